// The values of a statement's parameters, and of its result, in PostgreSQL's binary form of arrays:
// its function array_send(). Pure.
#pragma once

#include "gateway/store/remote/told_call.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gateway::store::postgres {

// text[]
std::string encode_texts(const texts& all);

// bigint[]
std::string encode_numbers(std::span<const std::int64_t> all);

// Most numbers of a reply of ours.
inline constexpr std::size_t most_numbers = 2 + call::max_questions + 4 * call::max_charges;

// What a bigint[] of at most that many says; nothing if these are none.
std::optional<std::vector<std::int64_t>> decode_numbers(std::span<const char> bytes);

}  // namespace gateway::store::postgres
