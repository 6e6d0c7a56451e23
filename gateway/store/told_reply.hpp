// What functions in a shared store reply to a question, in numbers: 1 admitted, 0 rejected, or -1
// if a bucket holds something else; unless that, per charge: allowed (2: banned), remaining, and
// the microseconds of retry and reset. See redis/take.lua. Pure.
#pragma once

#include "gateway/store/conversation_state.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// One charge's four numbers, added to the answer. Corrupt: they are what the server finds in a
// bucket, but no limit comes that far.
call_results::kind read_decision(std::span<const std::int64_t> four, answer& into);

// What is told from `at` on of a question of so many charges; moves it behind.
call_results::kind read_question(
    std::span<const std::int64_t> told, std::size_t& at, std::size_t charges, answer& into
);

}  // namespace gateway::store
