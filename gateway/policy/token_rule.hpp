// `token_rule` states where requests carry a token that identifies the client, and which tokens are
// valid.
#pragma once

#include "gateway/identity/web_token.hpp"

#include <string>

namespace gateway::policy {

struct token_rule {
    enum class carrier { header, cookie };
    carrier in = carrier::header;
    // Name of the cookie, or of the header in lower case.
    std::string name = "authorization";

    // The file that the keys were read from.
    std::string keys_file;
    identity::token_rules good;
};

}  // namespace gateway::policy
