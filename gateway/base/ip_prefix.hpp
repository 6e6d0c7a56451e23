// CIDR prefixes and sets of them.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::base {

// `ip_prefix` is a CIDR prefix. The two families are apart: an IPv6 prefix, even ::/0, contains no
// IPv4 address.
class ip_prefix {
public:
    // Makes the prefix "::/128".
    ip_prefix() = default;

    // Parses "10.0.0.0/8", "2001:db8::/32", or a bare address, which is a prefix of full length.
    // Bits set after the prefix length are an error, as they hide a typing mistake. The length of
    // an IPv4-mapped spelling counts from 128 bits, as it is written: "::ffff:10.0.0.0/104" is
    // 10.0.0.0/8.
    static std::optional<ip_prefix> parse(std::string_view text);

    bool contains(const ip_address& address) const;

    // Returns the first address of the prefix; all bits after the length are clear.
    const ip_address& first() const { return first_; }

    // Returns the length in bits of the 128-bit form, which is 104 for an IPv4 /8.
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
    // Prefix length in the 128-bit form, which is 104 for an IPv4 /8.
    int length_ = 128;

    bool first_is_v4_ = false;
};

// `ip_prefix_set` contains the addresses of its prefixes; an empty set contains none.
// Thread: any, as a set does not change after its construction.
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
