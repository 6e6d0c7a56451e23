// Encodes the parameters of a statement, and decodes its result, in PostgreSQL's binary form of
// arrays (its function array_send()). Pure.
#pragma once

#include "gateway/store/remote/encoded_call.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gateway::store::postgres {

// Encodes a text[].
std::string encode_texts(const texts& all);

// Encodes a bigint[].
std::string encode_numbers(std::span<const std::int64_t> all);

// Most numbers in a reply to a call.
inline constexpr std::size_t most_numbers = 2 + call::max_questions + 4 * call::max_charges;

// Decodes a bigint[] of at most most_numbers elements. Returns nothing if the bytes are not one.
std::optional<std::vector<std::int64_t>> decode_numbers(std::span<const char> bytes);

}  // namespace gateway::store::postgres
