// Sixteen bytes compared at once: a vector extension that GCC and Clang turn into SSE2, NEON or
// plain words. For the scans that every request pays for.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace gateway::base {

using bytes16 = unsigned char __attribute__((vector_size(16)));

inline bytes16 load16(const char* p)
{
    bytes16 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

// Index of the first byte for which a comparison was true; 16: there is none.
template <typename Comparison>
int first_true(Comparison comparison)
{
    static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(comparison);
    return words[0] != 0 ? std::countr_zero(words[0]) / 8 : 8 + std::countr_zero(words[1]) / 8;
}

template <typename Comparison>
bool any_true(Comparison comparison)
{
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(comparison);
    return (words[0] | words[1]) != 0;
}

}  // namespace gateway::base
