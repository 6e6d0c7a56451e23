// `token_rule` states where requests carry a token that identifies the client, and which tokens are
// valid.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/identity/web_token.hpp"

#include <string>

namespace gateway::policy {

struct token_rule {
    enum class carrier { header, cookie };
    carrier in = carrier::header;
    // Name of the cookie, or of the header in lower case.
    std::string name = "authorization";

    // The file that the keys were read from, or the URL from which they are fetched.
    std::string keys_from;
    // Longest wait of a request for a fetch of keys; 0: the keys come from a file.
    base::duration fetch_timeout{0};
    identity::token_rules good;

    bool are_keys_fetched() const { return fetch_timeout > base::duration{0}; }

    // True if the keys are fetched, and none have come yet.
    bool lacks_keys() const { return are_keys_fetched() && good.keys.empty(); }
};

}  // namespace gateway::policy
