// `answer` is a store's reply to a question (store/store.hpp): a decision for each charge.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/store/charge.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// `answer` holds one decision per charge, in their order. The local store writes into one that its
// caller keeps, so that its 296 bytes are neither cleared nor copied. Clearing them took an eighth
// of a decision's time.
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

    // Adds an unknown decision: the bucket was not looked at, because other charges decided the
    // question.
    void add_unknown()
    {
        unknown_ |= 1U << count_;
        decisions_[count_++] = {};
    }

    void replace(std::size_t i, const limit::decision& d) { decisions_[i] = d; }

    std::span<const limit::decision> decisions() const { return {decisions_.data(), count_}; }

    // True if the i-th decision is known. An unknown one means nothing.
    bool knows(std::size_t i) const { return (unknown_ & (1U << i)) == 0; }

    // True if every enforced charge was allowed, so that the tokens of all allowed charges were
    // taken.
    bool admitted = true;
    // Time when the tokens were taken, for a refund. Set by the local store only.
    base::instant taken_at{};
    // Number by which the local store knows the permits that were taken, from 1. Other requests may
    // have the same one.
    std::int64_t permits = 0;

    // Notes that the i-th charge took from the bucket that clients without one share.
    void add_shared(std::size_t i) { shared_ |= 1U << i; }

    // True if the i-th charge took from that bucket. Set by the local store only.
    bool is_shared(std::size_t i) const { return (shared_ & (1U << i)) != 0; }

    // Returns the number of the i-th charge's permit in the local store, negative if it is of a
    // shared bucket.
    std::int64_t permit(std::size_t i) const { return is_shared(i) ? -permits : permits; }

private:
    std::array<limit::decision, max_charges> decisions_{};
    std::size_t count_ = 0;
    std::uint32_t unknown_ = 0;
    std::uint32_t shared_ = 0;
};

}  // namespace gateway::store
