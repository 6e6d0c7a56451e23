#include "gateway/policy/plan_table.hpp"

#include <algorithm>
#include <functional>

namespace gateway::policy {

namespace {

constexpr std::size_t fewest_slots = 16;

}  // namespace

plan_id plan_table::plan_named(std::string_view name)
{
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known == names_.end()) {
        if (names_.size() == max_plan_names) {
            return 0;
        }
        names_.emplace_back(name);
        return static_cast<plan_id>(names_.size());
    }
    return static_cast<plan_id>(known - names_.begin() + 1);
}

plan_table::added plan_table::add(std::string_view key, plan_id plan)
{
    return add(base::siphash128(key_, key), plan);
}

plan_table::added plan_table::add(const base::ip_prefix& prefix, plan_id plan)
{
    const int length = prefix.length();
    auto& lengths = lengths_[prefix.first().is_v4() ? 1 : 0];
    const auto at = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater{});
    if (at == lengths.end() || *at != length) {
        lengths.insert(at, length);
    }
    return add(hash_of(prefix.first(), length), plan);
}

plan_id plan_table::find(std::string_view key) const
{
    return key.size() > longest_plan_key || size_ == 0 ? 0 : find(base::siphash128(key_, key));
}

plan_id plan_table::find(const base::ip_address& address) const
{
    constexpr int before_v4 = 96;  // Bits before the IPv4 address in a mapped one.
    for (const int length : lengths_[address.is_v4() ? 1 : 0]) {
        const plan_id plan = find(hash_of(address.masked(length - before_v4, length), length));
        if (plan != 0) {
            return plan;
        }
    }
    return 0;
}

base::hash128 plan_table::hash_of(const base::ip_address& first, int length) const
{
    std::array<char, 17> bytes{};
    std::copy(first.network_order().begin(), first.network_order().end(), bytes.begin());
    bytes.back() = static_cast<char>(length);
    return base::siphash128(key_, {bytes.data(), bytes.size()});
}

// Returns the slot of a hash, or the free slot that it would have.
std::size_t plan_table::slot_of(const base::hash128& hash) const
{
    const std::size_t mask = hashes_.size() - 1;
    std::size_t at = hash.low & mask;
    while (plans_[at] != 0 && !(hashes_[at] == hash)) {
        at = (at + 1) & mask;
    }
    return at;
}

plan_id plan_table::find(const base::hash128& hash) const
{
    return plans_[slot_of(hash)];
}

plan_table::added plan_table::add(const base::hash128& hash, plan_id plan)
{
    if (size_ + 1 > hashes_.size() / 4 * 3) {
        grow();
    }
    const std::size_t at = slot_of(hash);
    if (plans_[at] != 0) {
        return plans_[at] == plan ? added::yes : added::has_another_plan;
    }
    if (size_ == max_plan_keys) {
        return added::no_room;
    }
    hashes_[at] = hash;
    plans_[at] = plan;
    ++size_;
    return added::yes;
}

void plan_table::grow()
{
    const std::vector<base::hash128> old_hashes = std::move(hashes_);
    const std::vector<plan_id> old_plans = std::move(plans_);
    const std::size_t slots = std::max(fewest_slots, old_hashes.size() * 2);
    hashes_ = std::vector<base::hash128>(slots);
    plans_ = std::vector<plan_id>(slots);
    for (std::size_t i = 0; i < old_plans.size(); ++i) {
        if (old_plans[i] != 0) {
            const std::size_t at = slot_of(old_hashes[i]);
            hashes_[at] = old_hashes[i];
            plans_[at] = old_plans[i];
        }
    }
}

}  // namespace gateway::policy
