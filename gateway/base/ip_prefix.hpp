// CIDR prefixes and sets of them.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::base {

// The two families are apart: an IPv6 prefix, ::/0 included, contains no IPv4 address.
class ip_prefix {
public:
    // The prefix "::/128".
    ip_prefix() = default;

    // "10.0.0.0/8", "2001:db8::/32", or a bare address, which is its own prefix of full length.
    // Bits set after the prefix length are an error: they hide a typing mistake. An IPv4-mapped
    // spelling counts its length from 128 bits, as it is written: "::ffff:10.0.0.0/104"
    // is 10.0.0.0/8.
    static std::optional<ip_prefix> parse(std::string_view text);

    bool contains(const ip_address& address) const;

    // Its first address, all bits after the length clear.
    const ip_address& first() const { return first_; }

    // Bits, counted in the 128-bit form: of an IPv4 /8 they are 104.
    int length() const { return length_; }

    std::string to_string() const;

    bool operator==(const ip_prefix&) const = default;

private:
    static constexpr ip_address::bytes all_bits = [] {
        ip_address::bytes ones{};
        ones.fill(0xff);
        return ones;
    }();

    ip_address first_;
    ip_address mask_{all_bits};
    // The prefix length in the 128-bit form: an IPv4 /8 is 104.
    int length_ = 128;

    bool first_is_v4_ = false;
};

// Immutable after construction; any thread may ask. Empty contains nothing.
class ip_prefix_set {
public:
    ip_prefix_set() = default;

    explicit ip_prefix_set(std::vector<ip_prefix> prefixes);

    bool contains(const ip_address& address) const;

    bool empty() const { return prefixes_.empty(); }

    const std::vector<ip_prefix>& prefixes() const { return prefixes_; }

private:
    std::vector<ip_prefix> prefixes_;
};

}  // namespace gateway::base
