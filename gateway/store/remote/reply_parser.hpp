// `reply_parser` reads the reply of the functions in a shared store to a call: numbers, question by
// question; see redis/take.lua. Pure.
#pragma once

#include "gateway/store/remote/conversation_state.hpp"
#include "gateway/store/remote/encoded_call.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// `question_walk` walks over the questions of a call, to the one that is answered next, in the
// order of their encoding.
class question_walk {
public:
    // Ownership: `shape` outlives this object.
    explicit question_walk(std::span<const simple_charges> shape) : shape_(shape) {}

    bool ended() const { return shape_.empty(); }

    // Returns the question that is answered next.
    // Requires: the walk has not ended.
    const simple_charges& asked() const { return shape_.front(); }

    // Returns how many times the same was asked before.
    std::int64_t before() const { return answered_ % asked().times; }

    void go_on();

private:
    std::span<const simple_charges> shape_;
    // Number of questions of the first of `shape_` that have been answered.
    std::int64_t answered_ = 0;
};

class reply_parser final : public call_results {
public:
    // `reply` is the numbers of the reply, and `shape` the questions of the call.
    // Ownership: both outlive this object.
    reply_parser(std::span<const std::int64_t> reply, std::span<const simple_charges> shape)
        : reply_(reply), walk_(shape)
    {}

    // True if the reply has its first two numbers, of which one is the call's.
    bool begins() const { return reply_.size() >= 2; }

    std::int64_t number() const { return reply_[0]; }

    kind next(std::size_t charges, answer& into) override;

    bool ended() const override { return walk_.ended() && at_ == reply_.size(); }

    std::int64_t grant_epoch() const override { return reply_[1]; }

private:
    std::span<const std::int64_t> reply_;
    std::size_t at_ = 2;
    question_walk walk_;

    kind next_simple(answer& into);
};

// Adds a decision to the answer, from one charge's four numbers: allowed (2: banned), remaining,
// and the microseconds of retry and reset. Corrupt: the server found them in a bucket, but no limit
// allows such numbers.
call_results::kind read_decision(std::span<const std::int64_t> four, answer& into);

// Reads the reply from `at` on to a question of that number of charges: 1 admitted, 0 rejected, or
// -1 if a key holds something other than a bucket. Unless it is -1, each charge's numbers follow.
// Moves `at` behind them.
call_results::kind read_question(
    std::span<const std::int64_t> reply, std::size_t& at, std::size_t charges, answer& into
);

// Returns how many of these questions pass at a bucket with that debt.
// Requires: debt >= 0.
std::int64_t passing(const simple_charges& asked, std::int64_t debt);

// Reads the answer to each of these questions to a bucket with that debt, which is banned for
// `ban_left` microseconds.
call_results::kind read_banned(
    const simple_charges& asked, std::int64_t debt, std::int64_t ban_left, answer& into
);

// Reads the answer to one of these questions to a bucket that had that debt, after `before` others.
call_results::kind read_simple(
    const simple_charges& asked, std::int64_t before, std::int64_t debt, answer& into
);

}  // namespace gateway::store
