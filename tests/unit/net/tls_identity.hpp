// A key and a certificate that is its own authority, made in memory.
#pragma once

#include "gateway/net/tls/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <functional>
#include <string>

namespace gateway::net::testing {

inline std::string pem_of(const std::function<void(BIO*)>& write)
{
    BIO* const to = BIO_new(BIO_s_mem());
    write(to);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(to, &bytes);
    std::string text{bytes, static_cast<std::size_t>(size)};
    BIO_free_all(to);
    return text;
}

// For one name, for an hour or so many seconds.
class identity {
public:
    explicit identity(const std::string& alternative_name, long seconds = 3600)
        : key_(EVP_EC_gen("P-256")), certificate_(X509_new())
    {
        X509_set_version(certificate_, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
        X509_gmtime_adj(X509_getm_notBefore(certificate_), -60);
        X509_gmtime_adj(X509_getm_notAfter(certificate_), seconds);
        X509_set_pubkey(certificate_, key_);
        X509_NAME* const name = X509_get_subject_name(certificate_);
        const auto* const words = reinterpret_cast<const unsigned char*>("test");
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, words, -1, -1, 0);
        X509_set_issuer_name(certificate_, name);
        X509_EXTENSION* const more =
            X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative_name.c_str());
        X509_add_ext(certificate_, more, -1);
        X509_EXTENSION_free(more);
        X509_sign(certificate_, key_, EVP_sha256());
    }

    identity(const identity&) = delete;
    identity& operator=(const identity&) = delete;

    ~identity()
    {
        X509_free(certificate_);
        EVP_PKEY_free(key_);
    }

    pem_file certificate() const
    {
        return {"certificate", pem_of([this](BIO* to) { PEM_write_bio_X509(to, certificate_); })};
    }

    pem_file key() const
    {
        return {"key", pem_of([this](BIO* to) {
                    PEM_write_bio_PrivateKey(to, key_, nullptr, nullptr, 0, nullptr, nullptr);
                })};
    }

    void let_serve(SSL_CTX* context) const
    {
        SSL_CTX_use_certificate(context, certificate_);
        SSL_CTX_use_PrivateKey(context, key_);
    }

    void let_vouch(SSL_CTX* context) const
    {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate_);
    }

private:
    EVP_PKEY* key_;
    X509* certificate_;
};

}  // namespace gateway::net::testing
