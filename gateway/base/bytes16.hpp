// `bytes16` compares sixteen bytes at once: it is a vector extension that GCC and Clang turn into
// SSE2, NEON or plain words. It serves the scans that every request pays for.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gateway::base {

using bytes16 = unsigned char __attribute__((vector_size(16)));

inline bytes16 load16(const char* p)
{
    bytes16 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

// Loads eight bytes from each of the two addresses.
inline bytes16 load8_8(const char* first, const char* last)
{
    std::array<std::uint64_t, 2> words;
    std::memcpy(&words[0], first, sizeof words[0]);
    std::memcpy(&words[1], last, sizeof words[1]);
    return std::bit_cast<bytes16>(words);
}

// Returns one bit for each byte for which the comparison is true; the first byte's bit is the
// lowest.
template <typename Comparison>
std::uint32_t bits_of(Comparison comparison)
{
#ifdef __SSE2__
    return static_cast<std::uint32_t>(_mm_movemask_epi8(std::bit_cast<__m128i>(comparison)));
#else
    const auto bytes = std::bit_cast<std::array<std::uint8_t, 16>>(comparison);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bits |= (bytes[i] & 1U) << i;
    }
    return bits;
#endif
}

// Returns the index of the first byte for which the comparison is true; 16 if there is none.
template <typename Comparison>
int first_true(Comparison comparison)
{
    return std::countr_zero(bits_of(comparison) | 0x10000);
}

// Returns the index of the first byte for which the comparison is false; 16 if there is none.
template <typename Comparison>
int first_false(Comparison comparison)
{
    return std::countr_zero(~bits_of(comparison) | 0x10000);
}

template <typename Comparison>
bool any_true(Comparison comparison)
{
    return bits_of(comparison) != 0;
}

// True if `test` is true of any sixteen bytes that a scan of `text` visits. Each step takes the
// next sixteen, and the last one may overlap the step before.
// Requires: `text` has at least sixteen bytes.
template <typename Test>
bool any_step(std::string_view text, Test test)
{
    const char* p = text.data();
    const char* const last = p + text.size() - sizeof(bytes16);
    for (; p < last; p += sizeof(bytes16)) {
        if (test(p)) {
            return true;
        }
    }
    return test(last);
}

}  // namespace gateway::base
