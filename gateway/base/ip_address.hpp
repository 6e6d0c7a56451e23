// `ip_address` holds an IP address as a number. IPv4 is kept as IPv4-mapped IPv6, so that both
// spellings are one value.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

class ip_address {
public:
    using bytes = std::array<std::uint8_t, 16>;

    // Makes the address "::", which belongs to nobody.
    constexpr ip_address() = default;

    constexpr explicit ip_address(const bytes& network_order) : bytes_(network_order) {}

    // Makes an IPv4 address of a number in host byte order.
    static ip_address v4(std::uint32_t host_order);

    // Parses an address strictly: a dotted quad without leading zeros (RFC 6943 §3.1.1), or a form
    // of RFC 4291 §2.2. A port, bracket, zone or space is an error.
    static std::optional<ip_address> parse(std::string_view text);

    // True for an IPv4 address, and for ::ffff:a.b.c.d, which is the same value.
    bool is_v4() const;

    const bytes& network_order() const { return bytes_; }

    // Returns the address with every bit after the prefix length cleared. The length of an IPv4
    // address, `v4_length`, counts from its 32 bits.
    ip_address masked(int v4_length, int v6_length) const;

    // Returns the canonical text (RFC 5952); IPv4 as a dotted quad.
    std::string to_string() const;

    auto operator<=>(const ip_address&) const = default;

    // Compares two words, where the default would call memcmp().
    bool operator==(const ip_address& other) const
    {
        using words = std::array<std::uint64_t, 2>;
        return std::bit_cast<words>(bytes_) == std::bit_cast<words>(other.bytes_);
    }

private:
    bytes bytes_{};
};

}  // namespace gateway::base
