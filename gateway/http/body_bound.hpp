// The bound of request bodies, which a head may announce that it will pass.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

namespace gateway::http {

inline constexpr rejection body_too_large{413, "the body is larger than this server accepts"};

// Returns true if the request says by Content-Length that its body is larger than the bound.
inline bool announces_too_much(const request_head& head, const options& bounds)
{
    return bounds.max_body_bytes != 0 && head.body.length > bounds.max_body_bytes;
}

}  // namespace gateway::http
