// The token of a request: who it says is asking, if it is good.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/identity/web_token.hpp"
#include "gateway/intake/token_cache.hpp"
#include "gateway/policy/token_rule.hpp"

namespace gateway::intake {

struct request_token {
    // Servers could take different texts for it.
    bool ambiguous = false;
    // Null: there is none, or it does not verify. Until the cache is asked again.
    const identity::verified_token* verified = nullptr;
    // True if the only fault of the token is that no key signed it.
    bool forged = false;
};

// `now` is in Unix time. A token is ambiguous as any part of a key is (part_value.hpp), if it
// stands in a list, and if only lenient servers find a good one: in base64 that is not strict, with
// padding or with quotes.
request_token find_token(
    const http::request_head& head,
    const policy::token_rule& rule,
    token_cache& known,
    base::duration now
);

}  // namespace gateway::intake
