// The bucket a request falls into under a limit: values of the key's parts, taken from the request.
// A part that occurs twice with different values is refused: whichever we took, a server could
// take the other, and a client could choose a fresh bucket for every request.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/http/message.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/policy/policy.hpp"

#include <string_view>

namespace gateway::server {

// What keys are made of. Views into the request and the policy.
struct key_subject {
    const http::request_head* head = nullptr;
    // The client's address.
    base::ip_address address{};
    // The same, cut to the prefix that is one client.
    base::ip_address client;
    // The normalised host.
    std::string_view host;
    // The normalised path.
    std::string_view path;

    std::string_view route;
    // Whether what the peer says of the client reaches the upstream.
    bool peer_trusted = false;
};

enum class key_result {
    made,
    // A part is missing, and the rule says that the limit does not apply then.
    skip,
    // A part is ambiguous, or is missing and must not be.
    reject,
};

key_result make_bucket_name(
    const policy::limit_rule& rule, const key_subject& subject, identity::bucket_name& out
);

}  // namespace gateway::server
