// Finds the client of a request: the peer, or the address that trusted proxies vouch for
// (X-Forwarded-For, Forwarded of RFC 7239, or a one-address header). It is pure.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/base/ip_prefix.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::identity {

// The most list elements that are ever examined, from the right.
inline constexpr int max_forwarded_elements = 100;

struct client_options {
    // The proxies whose header is trusted. If empty, nobody's is, unless hops are counted.
    base::ip_prefix_set trusted_proxies;
    // Exact number of our proxies in front, or 0 to walk over trusted ones instead.
    int trusted_hops = 0;

    std::string header = "X-Forwarded-For";
    // Prefix lengths in bits: the addresses in one prefix are one client.
    int ipv4_prefix = 32;
    int ipv6_prefix = 64;
};

// `client_reason` is why an address is the client's.
enum class client_reason {
    // The peer is not trusted to name one.
    untrusted_peer,
    // The trusted peer sent no header.
    no_header,
    // The element at trusted_hops.
    counted,
    // The header has fewer than trusted_hops elements, or one of these is no address. The client
    // is the peer.
    not_countable,
    // The first element, from the right, that is no trusted proxy.
    first_untrusted,
    // All are trusted proxies. The client is the leftmost, or the last that is examined.
    all_trusted,
    // The next element is no address, so nobody vouches for more.
    unreadable,
    // The header has one address only.
    only_address,
    // The header does not have exactly one address. The client is the peer.
    no_one_address,
};

struct found_client {
    base::ip_address address;
    client_reason why = client_reason::untrusted_peer;
    // Position among the header's elements, counted from the right; 0: the peer.
    int hop = 0;
};

// Returns the client's address. `lines` are the values of every header line named options.header,
// in order of arrival. The rules are those of docs/configuration.md, "client".
base::ip_address client_address(
    const client_options& options,
    const base::ip_address& peer,
    std::span<const std::string_view> lines
);

// Returns the client's address with the reason for it.
found_client find_client(
    const client_options& options,
    const base::ip_address& peer,
    std::span<const std::string_view> lines
);

// Returns the client's address for a peer that is known to be trusted.
base::ip_address vouched_address(
    const client_options& options,
    const base::ip_address& peer,
    std::span<const std::string_view> lines
);

// True if this peer's forwarding headers may be passed on (and appended to), not replaced.
bool is_trusted(const client_options& options, const base::ip_address& peer);

}  // namespace gateway::identity
