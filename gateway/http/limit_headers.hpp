// What the client is told about its limits: X-RateLimit-*, RateLimit (draft-ietf-httpapi-
// ratelimit-headers-10), Retry-After (RFC 9110 §10.2.3). From decisions, pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

struct limit_report {  // of one limit that decided
    std::string_view name{};
    const limit::limit* limit = nullptr;
    limit::decision decision{};
};

struct limit_header_options {
    bool x_ratelimit = true;
    bool reset_as_epoch = false;
    bool ratelimit = false;
};

// Appends whole lines for `reports`; nothing if there are none. `unix_now` is used for epoch only.
void append_limit_headers(
    std::span<const limit_report> reports,
    const limit_header_options& options,
    base::duration unix_now,
    std::string& out
);

// Retry-After in whole seconds, at least 1, never earlier than `wait`.
void append_retry_after(base::duration wait, std::string& out);

}  // namespace gateway::http
