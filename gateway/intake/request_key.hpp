// `make_bucket_name` names the bucket of a request under a limit, by the values of the key's parts.
// A part that occurs twice with different values is refused: whichever the gateway took, a server
// could take the other, and a client could choose a fresh bucket for every request.
#pragma once

#include "gateway/base/client_certificate.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/content/request_values.hpp"
#include "gateway/envoy/rate_limit_request.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/part_value.hpp"
#include "gateway/intake/claimed_limits.hpp"
#include "gateway/intake/named_charge.hpp"
#include "gateway/intake/request_token.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::intake {

// `key_subject` is what keys are made of.
// Ownership: it views into the request and the policy.
struct key_subject {
    const http::request_head* head = nullptr;
    // The client's address.
    base::ip_address address{};
    // The client's address, cut to the prefix that is one client.
    base::ip_address client;
    // The normalized host.
    std::string_view host;
    // The normalized path.
    std::string_view path;

    std::string_view route;
    // Token that the request carries.
    request_token token{};
    // Limits by the numbers of tokens; null: the default numbers count.
    claimed_limits* claimed = nullptr;
    // True if the peer is trusted, so that its headers about the client count and reach the
    // upstream.
    bool peer_trusted = false;
    // The client's certificate, verified; null: it has shown none.
    const base::client_certificate* certificate = nullptr;
    // The request's content, as far as it was read.
    content::request_content content{};
    // The entries of a descriptor, if Envoy asks about one.
    std::span<const envoy::descriptor_entry> entries{};
};

// Returns the address cut to a prefix, as for a key part that names a prefix of its own.
base::ip_address cut(const base::ip_address& client, int prefix);

enum class key_result {
    made,
    // A part is missing, and the rule says that the limit then does not apply.
    skip,
    // A part is ambiguous, or is missing and must not be.
    reject,
};

// Reads the value of a part, which is not client_ip.
void read_part(const policy::key_part& part, const key_subject& subject, http::part_value& out);

// `named_key` is how far naming a bucket got: `made`, or the first part because of which there is
// no name.
struct named_key {
    key_result is = key_result::made;
    key_fault fault{};
};

named_key make_bucket_name(
    const policy::limit_rule& rule, const key_subject& subject, identity::bucket_name& out
);

// Returns the fault in a clause for the sender of the request, such as "header:x-api-key, which
// identifies the client, is missing". It needs no escaping in JSON.
std::string described(const key_fault& fault);

}  // namespace gateway::intake
