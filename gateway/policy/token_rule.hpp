// Where requests carry a token that says who is asking, and which tokens are good.
#pragma once

#include "gateway/identity/web_token.hpp"

#include <string>

namespace gateway::policy {

struct token_rule {
    enum class carrier { header, cookie };
    carrier in = carrier::header;
    // Of the header, in lower case, or of the cookie.
    std::string name = "authorization";

    // The file that the keys came from.
    std::string keys_file;
    identity::token_rules good;
};

}  // namespace gateway::policy
