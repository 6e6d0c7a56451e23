// `find_token` finds and verifies the token of a request, which says who is asking.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/identity/web_token.hpp"
#include "gateway/intake/token_cache.hpp"
#include "gateway/policy/token_rule.hpp"

namespace gateway::intake {

struct request_token : known_token {
    // True if servers could take different texts for it.
    bool ambiguous = false;
};

// Returns the token that `rule` looks for; `now` is in Unix time. A token is ambiguous like any
// part of a key (part_value.hpp), if it stands in a list, or if only lenient servers find a good
// one: in base64 that is not strict, with padding or with quotes, or behind `token=`.
request_token find_token(
    const http::request_head& head,
    const policy::token_rule& rule,
    token_cache& known,
    base::duration now,
    unknown_token unknown = unknown_token::is_verified
);

}  // namespace gateway::intake
