// What a store decides of a question.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/store/charge.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// One decision per charge, in their order. The local store writes into one its asker keeps, so that
// its 280 bytes are neither cleared nor copied: clearing them was an eighth of a decision.
class answer {
public:
    void clear()
    {
        admitted = true;
        count_ = 0;
        unknown_ = 0;
        shared_ = 0;
    }

    limit::decision& add(const limit::decision& d) { return decisions_[count_++] = d; }

    // For a charge whose bucket was not looked at: the question was decided by others.
    void add_unknown()
    {
        unknown_ |= 1U << count_;
        decisions_[count_++] = {};
    }

    void replace(std::size_t i, const limit::decision& d) { decisions_[i] = d; }

    std::span<const limit::decision> decisions() const { return {decisions_.data(), count_}; }

    // False: the i-th decision says nothing.
    bool knows(std::size_t i) const { return (unknown_ & (1U << i)) == 0; }

    // Whether every enforced charge was allowed, so that what was allowed has been taken.
    bool admitted = true;
    // When the tokens were taken, for a refund. Set by the local store only.
    base::instant taken_at{};
    // What it knows the places by that were taken: a number from 1, which others may have, too.
    std::int64_t places = 0;

    // The i-th charge took a place of those that clients without a bucket share.
    void add_shared(std::size_t i) { shared_ |= 1U << i; }

    // The number of the i-th charge's place in the local store; below 0: of a shared one.
    std::int64_t place(std::size_t i) const
    {
        return (shared_ & (1U << i)) != 0 ? -places : places;
    }

private:
    std::array<limit::decision, max_charges> decisions_{};
    std::size_t count_ = 0;
    std::uint32_t unknown_ = 0;
    std::uint32_t shared_ = 0;
};

}  // namespace gateway::store
