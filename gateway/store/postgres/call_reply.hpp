// What our functions reply to one call, question by question. Pure.
#pragma once

#include "gateway/store/conversation_state.hpp"
#include "gateway/store/told_call.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gateway::store::postgres {

class call_reply final : public call_results {
public:
    // `told`: the reply. `shape`: what was asked. Both must outlive it.
    call_reply(std::span<const std::int64_t> told, std::span<const usual_questions> shape)
        : told_(told), shape_(shape), is_usual_(!shape.empty() && shape.front().keys > 0)
    {}

    // Its first two numbers are there.
    bool begins() const { return told_.size() >= 2; }

    std::int64_t number() const { return told_[0]; }

    kind next(std::size_t charges, answer& into) override;
    bool ended() const override;

    std::int64_t gift_mark() const override { return told_[1]; }

private:
    std::span<const std::int64_t> told_;
    std::span<const usual_questions> shape_;
    std::size_t at_ = 2;
    // How many questions of the first of `shape_` have been answered.
    std::int64_t answered_ = 0;

    // Of a call of usual questions, and how many buckets came before the first of `shape_`.
    bool is_usual_;
    std::size_t buckets_before_ = 0;

    kind next_usual(const usual_questions& asked, answer& into);
};

}  // namespace gateway::store::postgres
