// What functions in a shared store reply to a call, in numbers, question by question; see
// redis/take.lua. Pure.
#pragma once

#include "gateway/store/remote/conversation_state.hpp"
#include "gateway/store/remote/told_call.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// Which of a call's questions is answered next, in the order in which they were told.
class question_walk {
public:
    // Must outlive it.
    explicit question_walk(std::span<const usual_questions> shape) : shape_(shape) {}

    bool ended() const { return shape_.empty(); }

    // Not when it has ended.
    const usual_questions& asked() const { return shape_.front(); }

    // How often the same was asked before.
    std::int64_t before() const { return answered_ % asked().times; }

    void go_on();

private:
    std::span<const usual_questions> shape_;
    // How many questions of the first of `shape_` have been answered.
    std::int64_t answered_ = 0;
};

class told_results final : public call_results {
public:
    // `told`: the reply. `shape`: what was asked. Both must outlive it.
    told_results(std::span<const std::int64_t> told, std::span<const usual_questions> shape)
        : told_(told), walk_(shape)
    {}

    // Its first two numbers are there: it is a reply, with a number.
    bool begins() const { return told_.size() >= 2; }

    std::int64_t number() const { return told_[0]; }

    kind next(std::size_t charges, answer& into) override;

    bool ended() const override { return walk_.ended() && at_ == told_.size(); }

    std::int64_t grant_mark() const override { return told_[1]; }

private:
    std::span<const std::int64_t> told_;
    std::size_t at_ = 2;
    question_walk walk_;

    kind next_usual(answer& into);
};

// One charge's four numbers, added to the answer: allowed (2: banned), remaining, and the
// microseconds of retry and reset. Corrupt: they are what the server finds in a bucket, but no
// limit comes that far.
call_results::kind read_decision(std::span<const std::int64_t> four, answer& into);

// What is told from `at` on of a question of so many charges: 1 admitted, 0 rejected, or -1 if a
// bucket holds something else; unless that, each charge's numbers. Moves `at` behind.
call_results::kind read_question(
    std::span<const std::int64_t> told, std::size_t& at, std::size_t charges, answer& into
);

// How many of these questions to a bucket that owes so much, at least nothing, pass.
std::int64_t passing(const usual_questions& asked, std::int64_t debt);

// The answer to each of these questions to a bucket that owes so much, and is banned for so many
// microseconds.
call_results::kind read_banned(
    const usual_questions& asked, std::int64_t debt, std::int64_t ban_left, answer& into
);

// The answer to one of these questions to a bucket that owed so much, after so many others.
call_results::kind read_usual(
    const usual_questions& asked, std::int64_t before, std::int64_t debt, answer& into
);

}  // namespace gateway::store
