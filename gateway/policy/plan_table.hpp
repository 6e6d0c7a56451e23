// `plan_table` maps keys, or prefixes of addresses, to plans.
// Thread: any, once it is built, as it is then immutable.
//
// Keys may be secrets, so only a keyed hash of each is kept: 17 bytes in an open-addressing table
// of which three quarters are used at most, so 23 to 46 bytes per key. Two keys with the same 128
// bits would be taken for one, but nobody who does not know the hash key can make such a pair.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/base/ip_prefix.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// Most plans in one table. A plan is one byte.
inline constexpr std::size_t max_plan_names = 255;
// Most bytes of a key. A longer one has no plan.
inline constexpr std::size_t longest_plan_key = 256;
// Most keys in one table.
inline constexpr std::size_t max_plan_keys = 10'000'000;

// An index into plan_table::names(), plus one; 0: no plan.
using plan_id = std::uint8_t;

class plan_table {
public:
    // Requires: `key` is a secret of this process.
    explicit plan_table(const base::hash_key& key) : key_(key) {}

    // Returns the plan of that name, and adds it if it is new. Returns 0 if there are
    // max_plan_names others.
    plan_id plan_named(std::string_view name);

    // Result of adding a key.
    enum class added : std::uint8_t { yes, has_another_plan, no_room };

    // Adds a key. The same key may be added again with the same plan.
    added add(std::string_view key, plan_id plan);
    added add(const base::ip_prefix& prefix, plan_id plan);

    plan_id find(std::string_view key) const;

    // Returns the plan of the longest prefix that contains the address, or 0.
    plan_id find(const base::ip_address& address) const;

    const std::vector<std::string>& names() const { return names_; }

    std::size_t size() const { return size_; }

    // Returns the bytes that the table occupies.
    std::size_t bytes() const
    {
        return hashes_.capacity() * sizeof(base::hash128) + plans_.capacity();
    }

private:
    base::hash_key key_;
    std::vector<std::string> names_;
    // plans_[i] is the plan of the key with hash hashes_[i]. 0: the slot is free. The number of
    // slots is a power of two.
    std::vector<base::hash128> hashes_;
    std::vector<plan_id> plans_;
    std::size_t size_ = 0;
    // Lengths of the prefixes, the longest first: of IPv6, then of IPv4.
    std::array<std::vector<int>, 2> lengths_;

    std::size_t slot_of(const base::hash128& hash) const;
    plan_id find(const base::hash128& hash) const;
    added add(const base::hash128& hash, plan_id plan);
    void grow();
    base::hash128 hash_of(const base::ip_address& first, int length) const;
};

}  // namespace gateway::policy
