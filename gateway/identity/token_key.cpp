#include "gateway/identity/token_key.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <array>

namespace gateway::identity {

namespace {

template <auto free>
struct freed_by {
    template <class Object>
    void operator()(Object* object) const
    {
        free(object);
    }
};

using big_number = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using digest_context = std::unique_ptr<EVP_MD_CTX, freed_by<EVP_MD_CTX_free>>;
using key_context = std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>>;
using parameter_builder = std::unique_ptr<OSSL_PARAM_BLD, freed_by<OSSL_PARAM_BLD_free>>;
using parameters = std::unique_ptr<OSSL_PARAM, freed_by<OSSL_PARAM_free>>;
using ecdsa_signature = std::unique_ptr<ECDSA_SIG, freed_by<ECDSA_SIG_free>>;

// Clears OpenSSL's errors about a bad key or signature, which are nobody's error: the next one to
// look at the thread's queue must find none.
struct no_errors_left {
    ~no_errors_left() { ERR_clear_error(); }
};

const unsigned char* bytes_of(std::string_view text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

big_number number_of(std::string_view big_endian)
{
    return big_number{
        BN_bin2bn(bytes_of(big_endian), static_cast<int>(big_endian.size()), nullptr)};
}

std::shared_ptr<EVP_PKEY> owned(EVP_PKEY* key)
{
    return {key, EVP_PKEY_free};
}

// Returns null if the members are no key. For P-256 that includes a point that is not on the curve.
std::shared_ptr<EVP_PKEY> public_key(const char* type, OSSL_PARAM_BLD* members)
{
    const no_errors_left none;
    const parameters all{OSSL_PARAM_BLD_to_param(members)};
    const key_context making{EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr)};
    EVP_PKEY* made = nullptr;
    if (all == nullptr || making == nullptr || EVP_PKEY_fromdata_init(making.get()) != 1 ||
        EVP_PKEY_fromdata(making.get(), &made, EVP_PKEY_PUBLIC_KEY, all.get()) != 1) {
        return nullptr;
    }
    std::shared_ptr<EVP_PKEY> key = owned(made);
    const key_context checking{EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr)};
    return checking != nullptr && EVP_PKEY_public_check(checking.get()) == 1 ? key : nullptr;
}

// Returns r and s, of a fixed length each (RFC 7518 §3.4), in DER, the form that OpenSSL reads.
// Returns an empty text if OpenSSL cannot write them.
std::string der_of(std::string_view signature)
{
    const std::size_t half = signature.size() / 2;
    big_number r = number_of(signature.substr(0, half));
    big_number s = number_of(signature.substr(half));
    const ecdsa_signature both{ECDSA_SIG_new()};
    if (r == nullptr || s == nullptr || both == nullptr ||
        ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) {
        return {};
    }
    // The numbers belong to the signature now.
    static_cast<void>(r.release());
    static_cast<void>(s.release());
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(both.get(), &der);
    std::string text;
    if (size > 0) {
        text.assign(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
        OPENSSL_free(der);
    }
    return text;
}

bool verifies_secretly(std::string_view secret, std::string_view text, std::string_view signature)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> expected;
    unsigned int size = 0;
    const unsigned char* const made = HMAC(
        EVP_sha256(),
        secret.data(),
        static_cast<int>(secret.size()),
        bytes_of(text),
        text.size(),
        expected.data(),
        &size
    );
    return made != nullptr && signature.size() == size &&
           CRYPTO_memcmp(signature.data(), expected.data(), size) == 0;
}

}  // namespace

std::optional<token_algorithm> token_algorithm_of(std::string_view name)
{
    if (name == "HS256") {
        return token_algorithm::hs256;
    }
    if (name == "RS256") {
        return token_algorithm::rs256;
    }
    if (name == "ES256") {
        return token_algorithm::es256;
    }
    return name == "EdDSA" ? std::optional{token_algorithm::eddsa} : std::nullopt;
}

std::optional<token_key> token_key::rsa(std::string_view modulus, std::string_view exponent)
{
    const big_number n = number_of(modulus);
    const big_number e = number_of(exponent);
    if (n == nullptr || e == nullptr || BN_num_bits(n.get()) < min_modulus_bits ||
        BN_num_bits(n.get()) > max_modulus_bits || !BN_is_odd(n.get()) ||
        BN_num_bits(e.get()) < 2 || BN_num_bits(e.get()) > 64 || !BN_is_odd(e.get())) {
        return std::nullopt;
    }
    const parameter_builder members{OSSL_PARAM_BLD_new()};
    if (members == nullptr ||
        OSSL_PARAM_BLD_push_BN(members.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(members.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
        return std::nullopt;
    }
    token_key key{token_algorithm::rs256};
    key.public_ = public_key("RSA", members.get());
    return key.public_ != nullptr ? std::optional{std::move(key)} : std::nullopt;
}

std::optional<token_key> token_key::p256(std::string_view x, std::string_view y)
{
    if (x.size() != coordinate_bytes || y.size() != coordinate_bytes) {
        return std::nullopt;
    }
    // The point is uncompressed (SEC 1 §2.3.3).
    const std::string point = '\x04' + std::string{x} + std::string{y};
    const parameter_builder members{OSSL_PARAM_BLD_new()};
    if (members == nullptr ||
        OSSL_PARAM_BLD_push_utf8_string(
            members.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0
        ) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(
            members.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()
        ) != 1) {
        return std::nullopt;
    }
    token_key key{token_algorithm::es256};
    key.public_ = public_key("EC", members.get());
    return key.public_ != nullptr ? std::optional{std::move(key)} : std::nullopt;
}

std::optional<token_key> token_key::ed25519(std::string_view x)
{
    const no_errors_left none;
    token_key key{token_algorithm::eddsa};
    key.public_ =
        owned(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size()));
    return key.public_ != nullptr ? std::optional{std::move(key)} : std::nullopt;
}

std::optional<token_key> token_key::secret(std::string_view bytes)
{
    token_key key{token_algorithm::hs256};
    key.secret_ = bytes;
    return bytes.size() >= min_secret_bytes ? std::optional{std::move(key)} : std::nullopt;
}

bool token_key::verifies(std::string_view text, std::string_view signature) const
{
    switch (algorithm_) {
        case token_algorithm::hs256:
            return verifies_secretly(secret_, text, signature);
        case token_algorithm::es256:
            return signature.size() == 2 * coordinate_bytes &&
                   verifies_publicly(text, der_of(signature));
        case token_algorithm::rs256:
        case token_algorithm::eddsa:
            return verifies_publicly(text, signature);
    }
    return false;
}

bool token_key::verifies_publicly(std::string_view text, std::string_view signature) const
{
    const no_errors_left none;
    const digest_context context{EVP_MD_CTX_new()};
    // Ed25519 hashes by itself (RFC 8032 §5.1). RSA uses the padding of PKCS #1 v1.5.
    const EVP_MD* const digest = algorithm_ == token_algorithm::eddsa ? nullptr : EVP_sha256();
    return context != nullptr &&
           EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, public_.get()) == 1 &&
           EVP_DigestVerify(
               context.get(), bytes_of(signature), signature.size(), bytes_of(text), text.size()
           ) == 1;
}

}  // namespace gateway::identity
