// Who signs tokens, for tests: a key pair of each kind, made once, and its public half as a JSON
// Web Key.
#pragma once

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gateway::identity {

inline std::string base64url(std::string_view bytes)
{
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    unsigned bits = 0;
    int count = 0;
    for (const char c : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) {
            text += digits[bits >> (count - 6) & 63];
        }
    }
    if (count > 0) {
        text += digits[bits << (6 - count) & 63];
    }
    return text;
}

class issuer {
public:
    static constexpr std::array<std::string_view, 4> algorithms{"HS256", "RS256", "ES256", "EdDSA"};

    explicit issuer(std::string_view algorithm) : algorithm_(algorithm)
    {
        EVP_PKEY* key = nullptr;
        if (algorithm == "RS256") {
            key = EVP_RSA_gen(2048);
        } else if (algorithm == "ES256") {
            key = EVP_EC_gen("P-256");
        } else if (algorithm == "EdDSA") {
            key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
        }
        key_ = {key, EVP_PKEY_free};
    }

    const std::string& algorithm() const { return algorithm_; }

    // With more members behind it, such as `,"kid":"a"`.
    std::string jwk(const std::string& more = {}) const
    {
        std::string members;
        if (algorithm_ == "HS256") {
            members = R"("kty":"oct","k":")" + base64url(secret_);
        } else if (algorithm_ == "RS256") {
            members = R"("kty":"RSA","n":")" + base64url(number(OSSL_PKEY_PARAM_RSA_N)) +
                      R"(","e":")" + base64url(number(OSSL_PKEY_PARAM_RSA_E));
        } else if (algorithm_ == "ES256") {
            members = R"("kty":"EC","crv":"P-256","x":")" +
                      base64url(padded(number(OSSL_PKEY_PARAM_EC_PUB_X))) + R"(","y":")" +
                      base64url(padded(number(OSSL_PKEY_PARAM_EC_PUB_Y)));
        } else {
            std::string x(32, '\0');
            std::size_t size = x.size();
            EVP_PKEY_get_raw_public_key(key_.get(), bytes(x), &size);
            members = R"("kty":"OKP","crv":"Ed25519","x":")" + base64url(x);
        }
        return "{" + members + "\"" + more + "}";
    }

    std::string jwks(const std::string& more = {}) const
    {
        return R"({"keys":[)" + jwk(more) + "]}";
    }

    // The public key as servers have it in files, which people confuse with secrets.
    std::string pem() const
    {
        BIO* const out = BIO_new(BIO_s_mem());
        PEM_write_bio_PUBKEY(out, key_.get());
        char* data = nullptr;
        const long size = BIO_get_mem_data(out, &data);
        std::string text(data, static_cast<std::size_t>(size));
        BIO_free(out);
        return text;
    }

    // As a token has it; of ES256 r and s, or with `der` as OpenSSL has it.
    std::string signature(std::string_view text, bool der = false) const
    {
        if (algorithm_ == "HS256") {
            return hmac(secret_, text);
        }
        EVP_MD_CTX* const context = EVP_MD_CTX_new();
        const EVP_MD* const digest = algorithm_ == "EdDSA" ? nullptr : EVP_sha256();
        std::string made(512, '\0');
        std::size_t size = made.size();
        const bool good = EVP_DigestSignInit(context, nullptr, digest, nullptr, key_.get()) == 1 &&
                          EVP_DigestSign(
                              context,
                              bytes(made),
                              &size,
                              reinterpret_cast<const unsigned char*>(text.data()),
                              text.size()
                          ) == 1;
        EVP_MD_CTX_free(context);
        if (!good) {
            throw std::runtime_error("cannot sign");
        }
        made.resize(size);
        return algorithm_ == "ES256" && !der ? r_and_s(made) : made;
    }

    // Of header and payload as they are.
    std::string sign(const std::string& header, const std::string& payload) const
    {
        const std::string text = base64url(header) + '.' + base64url(payload);
        return text + '.' + base64url(signature(text));
    }

    std::string token(const std::string& payload, const std::string& more = {}) const
    {
        return sign(R"({"alg":")" + algorithm_ + '"' + more + "}", payload);
    }

    static std::string hmac(std::string_view secret, std::string_view text)
    {
        std::string made(32, '\0');
        HMAC(
            EVP_sha256(),
            secret.data(),
            static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(text.data()),
            text.size(),
            bytes(made),
            nullptr
        );
        return made;
    }

private:
    std::string algorithm_;
    std::string secret_ = "0123456789abcdef0123456789ABCDEF";
    std::shared_ptr<EVP_PKEY> key_;

    static unsigned char* bytes(std::string& text)
    {
        return reinterpret_cast<unsigned char*>(text.data());
    }

    static std::string padded(const std::string& number)
    {
        return std::string(32 - number.size(), '\0') + number;
    }

    static std::string text_of(const BIGNUM* number)
    {
        std::string text(static_cast<std::size_t>(BN_num_bytes(number)), '\0');
        BN_bn2bin(number, bytes(text));
        return text;
    }

    std::string number(const char* name) const
    {
        BIGNUM* value = nullptr;
        EVP_PKEY_get_bn_param(key_.get(), name, &value);
        const std::string text = text_of(value);
        BN_free(value);
        return text;
    }

    static std::string r_and_s(const std::string& der)
    {
        const auto* at = reinterpret_cast<const unsigned char*>(der.data());
        ECDSA_SIG* const both = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
        const std::string text =
            padded(text_of(ECDSA_SIG_get0_r(both))) + padded(text_of(ECDSA_SIG_get0_s(both)));
        ECDSA_SIG_free(both);
        return text;
    }
};

// One of each kind, in the order of issuer::algorithms.
inline const std::array<issuer, 4>& issuers()
{
    static const std::array<issuer, 4> all{
        issuer{"HS256"}, issuer{"RS256"}, issuer{"ES256"}, issuer{"EdDSA"}};
    return all;
}

}  // namespace gateway::identity
