// What our functions reply to one call, question by question. Pure.
#pragma once

#include "gateway/store/conversation_state.hpp"
#include "gateway/store/told_call.hpp"
#include "gateway/store/told_reply.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store::postgres {

class call_reply final : public call_results {
public:
    // `told`: the reply. `shape`: what was asked. Both must outlive it.
    call_reply(std::span<const std::int64_t> told, std::span<const usual_questions> shape)
        : told_(told), walk_(shape), is_usual_(!shape.empty() && shape.front().keys > 0)
    {}

    // Its first two numbers are there.
    bool begins() const { return told_.size() >= 2; }

    std::int64_t number() const { return told_[0]; }

    kind next(std::size_t charges, answer& into) override;
    bool ended() const override;

    std::int64_t grant_mark() const override { return told_[1]; }

private:
    std::span<const std::int64_t> told_;
    question_walk walk_;
    std::size_t at_ = 2;
    // Of usual questions only: what each bucket owed is told, and nothing else.
    bool is_usual_;

    kind next_usual(answer& into) const;
};

}  // namespace gateway::store::postgres
