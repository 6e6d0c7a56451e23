// Who is calling: the peer, or the address that trusted proxies vouch for (X-Forwarded-For,
// Forwarded of RFC 7239, or a one-address header). Pure.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/base/ip_prefix.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::identity {

// The most list elements ever examined, from the right.
inline constexpr int max_forwarded_elements = 100;

struct client_options {
    // The proxies whose header is trusted; empty: nobody's, unless hops are counted.
    base::ip_prefix_set trusted_proxies;
    // Exactly this many proxies of ours stand in front; 0: walk over trusted ones instead.
    int trusted_hops = 0;

    std::string header = "X-Forwarded-For";
    // Prefix lengths in bits: the addresses in one prefix are one client.
    int ipv4_prefix = 32;
    int ipv6_prefix = 64;
};

// `lines`: the values of every header line named options.header, in order of arrival.
// The rules are those of docs/configuration.md, "client".
base::ip_address client_address(
    const client_options& options,
    const base::ip_address& peer,
    std::span<const std::string_view> lines
);

// The same, of a peer that is known to be trusted.
base::ip_address vouched_address(
    const client_options& options,
    const base::ip_address& peer,
    std::span<const std::string_view> lines
);

// Whether what this peer says in forwarding headers may be passed on (and appended to) rather
// than replaced.
bool is_trusted(const client_options& options, const base::ip_address& peer);

}  // namespace gateway::identity
