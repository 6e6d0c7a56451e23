// The bucket a request falls into under a limit: values of the key's parts, taken from the request.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/http/message.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/policy/policy.hpp"

#include <optional>
#include <string_view>

namespace gateway::server {

// What keys are made of. Views into the request and the policy.
struct key_subject {
    const http::request_head* head = nullptr;
    base::ip_address client;  // masked to the configured prefix
    std::string_view host;    // normalised
    std::string_view path;    // normalised
    std::string_view route;
};

enum class key_result { made, skip, reject };  // skip, reject: a part is missing, and the rule says so

key_result make_bucket_name(const policy::limit_rule& rule, const key_subject& subject, identity::bucket_name& out);

// The first value of a cookie (RFC 6265 §5.4) or of a query parameter; nothing if absent or empty.
std::optional<std::string_view> cookie_value(const http::request_head& head, std::string_view name);
std::optional<std::string_view> query_value(std::string_view query, std::string_view name);

}  // namespace gateway::server
