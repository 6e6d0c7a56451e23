// Hashes of bucket names. Tables in memory use a keyed hash, with which an attacker cannot aim
// collisions. Names that leave the process use a cryptographic one, so that a store never sees
// their contents.
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

// Hashes a `hash128` for the standard containers. It suffices to take one half, as nobody outside
// can aim such hashes.
struct hash128_hash {
    std::size_t operator()(const hash128& h) const { return h.low; }
};

using hash_key = std::array<std::uint64_t, 2>;

// Returns a fresh secret from the system's random source.
// Errors: throws std::runtime_error if there is no such source.
hash_key random_hash_key();

// Returns the 128-bit SipHash-1-3 of `bytes` (Aumasson, Bernstein: "SipHash: a fast short-input
// PRF"). These rounds are usual for tables whose hashes nobody outside sees.
hash128 siphash128(const hash_key& key, std::string_view bytes);

using sha256_digest = std::array<std::uint8_t, 32>;

sha256_digest sha256(std::string_view bytes);

// Returns the first 128 bits of the SHA-256 digest as 32 lower-case hex digits.
std::string sha256_hex128(std::string_view bytes);

}  // namespace gateway::base
