#include "gateway/base/hash.hpp"

#include "gateway/base/hex.hpp"

#include <openssl/evp.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <sys/random.h>

namespace gateway::base {

namespace {

static_assert(std::endian::native == std::endian::little, "siphash128 reads words as they lie");

struct sip_state {
    std::uint64_t v0, v1, v2, v3;

    void round()
    {
        v0 += v1;
        v1 = std::rotl(v1, 13) ^ v0;
        v0 = std::rotl(v0, 32);
        v2 += v3;
        v3 = std::rotl(v3, 16) ^ v2;
        v0 += v3;
        v3 = std::rotl(v3, 21) ^ v0;
        v2 += v1;
        v1 = std::rotl(v1, 17) ^ v2;
        v2 = std::rotl(v2, 32);
    }

    void absorb(std::uint64_t word)
    {
        v3 ^= word;
        round();
        v0 ^= word;
    }

    std::uint64_t squeeze()
    {
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

std::uint64_t word_at(const char* bytes, std::size_t count)
{
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
}

// Returns the algorithm, looked up once. EVP_sha256() would look it up again for every digest.
const EVP_MD* sha256_algorithm()
{
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

}  // namespace

hash_key random_hash_key()
{
    hash_key key;
    std::size_t filled = 0;
    while (filled < sizeof key) {
        const ssize_t got =
            ::getrandom(reinterpret_cast<char*>(key.data()) + filled, sizeof key - filled, 0);
        if (got < 0 && errno != EINTR) {
            throw std::runtime_error("the system has no source of random numbers");
        }
        filled += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return key;
}

hash128 siphash128(const hash_key& key, std::string_view bytes)
{
    sip_state state{
        key[0] ^ 0x736f6d6570736575,
        key[1] ^ 0x646f72616e646f6d ^ 0xee,
        key[0] ^ 0x6c7967656e657261,
        key[1] ^ 0x7465646279746573,
    };
    const std::size_t whole = bytes.size() & ~std::size_t{7};
    for (std::size_t i = 0; i < whole; i += 8) {
        state.absorb(word_at(bytes.data() + i, 8));
    }
    std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
    if (const std::size_t rest = bytes.size() - whole; rest > 0) {
        // The rest of a long text is its last eight bytes without those that have been absorbed.
        last |= whole > 0 ? word_at(bytes.data() + bytes.size() - 8, 8) >> (8 * (8 - rest))
                          : word_at(bytes.data(), rest);
    }
    state.absorb(last);

    state.v2 ^= 0xee;
    hash128 hash;
    hash.low = state.squeeze();
    state.v1 ^= 0xdd;
    hash.high = state.squeeze();
    return hash;
}

sha256_digest sha256(std::string_view bytes)
{
    sha256_digest digest;
    const EVP_MD* const algorithm = sha256_algorithm();
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
        throw std::runtime_error("SHA-256 is not available");
    }
    return digest;
}

std::string sha256_hex128(std::string_view bytes)
{
    const sha256_digest digest = sha256(bytes);
    return hex_of(std::span{digest}.first<16>());
}

}  // namespace gateway::base
