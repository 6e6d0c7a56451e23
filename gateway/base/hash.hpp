// Hashes of bucket names. Keyed for tables in memory (an attacker cannot aim collisions),
// cryptographic for names that leave the process (a store never sees what they were made of).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::base {

struct hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const hash128&) const = default;
};

// Of tables by such hashes, which nobody outside can aim.
struct hash128_hash {
    std::size_t operator()(const hash128& h) const { return h.low; }
};

using hash_key = std::array<std::uint64_t, 2>;

// A fresh secret from the system's random source. Throws std::runtime_error if there is none.
hash_key random_hash_key();

// SipHash-1-3 with 128-bit output (Aumasson, Bernstein: "SipHash: a fast short-input PRF"): the
// rounds that are usual for tables whose hashes nobody outside sees.
hash128 siphash128(const hash_key& key, std::string_view bytes);

using sha256_digest = std::array<std::uint8_t, 32>;

sha256_digest sha256(std::string_view bytes);

// The first 128 bits of it, as 32 lower-case hex digits.
std::string sha256_hex128(std::string_view bytes);

}  // namespace gateway::base
