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

// What made an address the client's.
enum class client_reason {
    // The peer is not trusted to name one.
    untrusted_peer,
    // The trusted peer names none.
    no_header,
    // The element at trusted_hops.
    counted,
    // Fewer elements than that, or one that is no address: the peer's.
    not_countable,
    // The first element, from the right, that is no trusted proxy.
    first_untrusted,
    // All are trusted proxies: the leftmost, or the last that is examined.
    all_trusted,
    // The element before it is no address, so nobody vouches for more.
    unreadable,
    // The one address of the header.
    only_address,
    // The header has not exactly one address: the peer's.
    no_one_address,
};

struct found_client {
    base::ip_address address;
    client_reason why = client_reason::untrusted_peer;
    // Of the elements of the header, counted from the right; 0: the peer.
    int hop = 0;
};

// `lines`: the values of every header line named options.header, in order of arrival.
// The rules are those of docs/configuration.md, "client".
base::ip_address client_address(
    const client_options& options,
    const base::ip_address& peer,
    std::span<const std::string_view> lines
);

// The same, with how it was found.
found_client find_client(
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
