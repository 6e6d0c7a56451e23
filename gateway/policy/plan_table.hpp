// Who has which plan: keys, or prefixes of addresses, and the plan of each. Built once, then
// immutable; any thread may ask.
//
// Keys may be secrets: only a keyed hash of each is kept, 17 bytes in an open-addressing table of
// which three quarters are used at most, so 23 to 46 bytes per key. Two keys with the same 128 bits
// would be taken for one; nobody who does not know the hash key can make such a pair.
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

// Of one table, so that a plan is one byte.
inline constexpr std::size_t max_plan_names = 255;
// Bytes of a key; a longer one is nobody's.
inline constexpr std::size_t longest_plan_key = 256;
// Keys of one table.
inline constexpr std::size_t max_plan_keys = 10'000'000;

// An index into plan_table::names(), plus one; 0: none.
using plan_id = std::uint8_t;

class plan_table {
public:
    // `key` is a secret of this process.
    explicit plan_table(const base::hash_key& key) : key_(key) {}

    // The plan of that name, which is new to the table or not. 0: there are max_plan_names others.
    plan_id plan_named(std::string_view name);

    // What became of a key that was added.
    enum class added : std::uint8_t { yes, has_another_plan, no_room };

    // The same key may be added again with the same plan.
    added add(std::string_view key, plan_id plan);
    added add(const base::ip_prefix& prefix, plan_id plan);

    plan_id find(std::string_view key) const;

    // The plan of the longest prefix that contains it.
    plan_id find(const base::ip_address& address) const;

    const std::vector<std::string>& names() const { return names_; }

    std::size_t size() const { return size_; }

    // What the table occupies.
    std::size_t bytes() const
    {
        return hashes_.capacity() * sizeof(base::hash128) + plans_.capacity();
    }

private:
    base::hash_key key_;
    std::vector<std::string> names_;
    // plans_[i] is that of the key with hash hashes_[i]; 0: a free place. A power of two of them.
    std::vector<base::hash128> hashes_;
    std::vector<plan_id> plans_;
    std::size_t size_ = 0;
    // The lengths of prefixes, the longest first: of IPv6, of IPv4.
    std::array<std::vector<int>, 2> lengths_;

    std::size_t place_of(const base::hash128& hash) const;
    plan_id find(const base::hash128& hash) const;
    added add(const base::hash128& hash, plan_id plan);
    void grow();
    base::hash128 hash_of(const base::ip_address& first, int length) const;
};

}  // namespace gateway::policy
