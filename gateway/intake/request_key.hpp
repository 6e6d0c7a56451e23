// The bucket a request falls into under a limit: values of the key's parts, taken from the request.
// A part that occurs twice with different values is refused: whichever we took, a server could
// take the other, and a client could choose a fresh bucket for every request.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/part_value.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/intake/request_token.hpp"
#include "gateway/net/tls/client_certificate.hpp"
#include "gateway/policy/policy.hpp"

#include <string>
#include <string_view>

namespace gateway::intake {

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
    // The token that it carries.
    request_token token{};
    // Whether what the peer says of the client reaches the upstream.
    bool peer_trusted = false;
    // Of the client, verified; null: it has shown none.
    const net::client_certificate* certificate = nullptr;
};

// The address as a key part has it that names a prefix of its own.
base::ip_address cut(const base::ip_address& client, int prefix);

enum class key_result {
    made,
    // A part is missing, and the rule says that the limit does not apply then.
    skip,
    // A part is ambiguous, or is missing and must not be.
    reject,
};

// The value of a part other than client_ip.
void read_part(const policy::key_part& part, const key_subject& subject, http::part_value& out);

key_result make_bucket_name(
    const policy::limit_rule& rule, const key_subject& subject, identity::bucket_name& out
);

// The part of a key that a request lacks, or has in two ways.
struct key_fault {
    // Null: every part is there.
    const policy::key_part* part = nullptr;
    bool ambiguous = false;
};

// Returns the first part because of which make_bucket_name() makes no name.
key_fault find_fault(const policy::limit_rule& rule, const key_subject& subject);

// Returns the fault in a clause for whoever sent the request, such as "header:x-api-key, which
// identifies the client, is missing". It needs no escaping in JSON.
std::string described(const key_fault& fault);

}  // namespace gateway::intake
