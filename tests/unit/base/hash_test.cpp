#include "gateway/base/hash.hpp"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>
#include <memory>
#include <random>

namespace gateway::base {
namespace hash_test {

// The key and the messages of the published vectors: bytes counting up from zero.
constexpr hash_key counting_key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

std::string counting(std::size_t length)
{
    std::string bytes(length, '\0');
    for (std::size_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<char>(i);
    }
    return bytes;
}

std::string hex(const hash128& hash)
{
    std::string text;
    for (const std::uint64_t word : {hash.low, hash.high}) {
        for (int shift = 0; shift < 64; shift += 4) {
            text += "0123456789abcdef"[word >> (shift ^ 4) & 0xf];
        }
    }
    return text;
}

// OpenSSL's SipHash, of which the rounds can be chosen: the published vectors are of 2-4, ours is
// 1-3.
class openssl_siphash {
public:
    openssl_siphash(unsigned c_rounds, unsigned d_rounds) : c_rounds_(c_rounds), d_rounds_(d_rounds)
    {}

    hash128 operator()(const hash_key& key, std::string_view bytes)
    {
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &c_rounds_),
            OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &d_rounds_),
            OSSL_PARAM_construct_end(),
        };
        const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context{
            EVP_MAC_CTX_new(mac_.get()), EVP_MAC_CTX_free};
        std::array<unsigned char, 16> out{};
        std::size_t length = 0;
        EXPECT_EQ(EVP_MAC_init(context.get(), octets(key.data()), 16, parameters), 1);
        EXPECT_EQ(EVP_MAC_update(context.get(), octets(bytes.data()), bytes.size()), 1);
        EXPECT_EQ(EVP_MAC_final(context.get(), out.data(), &length, out.size()), 1);
        EXPECT_EQ(length, out.size());
        hash128 hash;
        std::memcpy(&hash.low, out.data(), 8);
        std::memcpy(&hash.high, out.data() + 8, 8);
        return hash;
    }

private:
    unsigned c_rounds_;
    unsigned d_rounds_;
    std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac_{
        EVP_MAC_fetch(nullptr, "SIPHASH", nullptr), EVP_MAC_free};

    static const unsigned char* octets(const void* data)
    {
        return static_cast<const unsigned char*>(data);
    }
};

TEST(siphash128, is_compared_with_one_that_gives_the_published_vectors)
{
    const std::pair<std::size_t, const char*> vectors[] = {
        {0, "a3817f04ba25a8e66df67214c7550293"},
        {1, "da87c1d86b99af44347659119b22fc45"},
        {2, "8177228da4a45dc7fca38bdef60affe4"},
        {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
        {8, "3b62a9ba6258f5610f83e264f31497b4"},
        {9, "264499060ad9baabc47f8b02bb6d71ed"},
        {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
        {16, "6ee2a4ca67b054bbfd3315bf85230577"},
        {63, "5150d1772f50834a503e069a973fbd7c"},
    };
    openssl_siphash siphash_2_4{2, 4};
    for (const auto& [length, expected] : vectors) {
        EXPECT_EQ(hex(siphash_2_4(counting_key, counting(length))), expected) << length;
    }
}

TEST(siphash128, agrees_with_openssl_at_every_length_and_alignment)
{
    std::mt19937_64 random{17};
    std::string bytes(300, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    openssl_siphash siphash_1_3{1, 3};
    for (std::size_t length = 0; length < 280; ++length) {
        const hash_key key{random(), random()};
        const std::string_view message = std::string_view{bytes}.substr(length % 17, length);
        ASSERT_EQ(siphash128(key, message), siphash_1_3(key, message)) << length;
    }
}

TEST(siphash128, depends_on_every_bit_of_the_key_and_of_the_message)
{
    const std::string message = counting(13);
    const hash128 hash = siphash128(counting_key, message);
    for (std::size_t bit = 0; bit < 128; ++bit) {
        hash_key other = counting_key;
        other[bit / 64] ^= std::uint64_t{1} << bit % 64;
        EXPECT_NE(siphash128(other, message), hash) << bit;
    }
    for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
        std::string other = message;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
        EXPECT_NE(siphash128(counting_key, other), hash) << bit;
    }
}

TEST(random_hash_key, is_never_the_same_twice)
{
    const hash_key a = random_hash_key();
    const hash_key b = random_hash_key();
    EXPECT_NE(a[0], b[0]);
    EXPECT_NE(a[1], b[1]);
    EXPECT_NE(a[0], a[1]);
}

TEST(sha256, begins_with_what_names_are_made_of)
{
    const sha256_digest digest = sha256("abc");
    EXPECT_EQ(digest[0], 0xba);
    EXPECT_EQ(digest[15], 0x23);
    EXPECT_EQ(digest[16], 0xb0);
    EXPECT_EQ(digest[31], 0xad);
}

TEST(sha256_hex128, is_the_first_half_of_sha256)
{
    EXPECT_EQ(sha256_hex128(""), "e3b0c44298fc1c149afbf4c8996fb924");
    EXPECT_EQ(sha256_hex128("abc"), "ba7816bf8f01cfea414140de5dae2223");
    EXPECT_EQ(
        sha256_hex128("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        "248d6a61d20638b8e5c026930c3e6039"
    );
    EXPECT_NE(sha256_hex128(std::string_view{"\0", 1}), sha256_hex128(""));
}

}  // namespace hash_test
}  // namespace gateway::base
