#include "gateway/net/tls/client_certificate.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/net/tls/alternative_names.hpp"
#include "gateway/net/tls/owned.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <array>

namespace gateway::net {

namespace {

std::string fingerprint_of(const X509* c)
{
    std::array<unsigned char, 32> digest{};
    unsigned int size = 0;
    X509_digest(c, EVP_sha256(), digest.data(), &size);
    return base::hex_of(digest);
}

std::string subject_of(const X509* c)
{
    const owned<BIO, BIO_free_all> out{BIO_new(BIO_s_mem())};
    X509_NAME_print_ex(out.get(), X509_get_subject_name(c), 0, XN_FLAG_RFC2253);
    std::string text(BIO_ctrl_pending(out.get()), '\0');
    std::size_t count = 0;
    BIO_read_ex(out.get(), text.data(), text.size(), &count);
    text.resize(count);
    return text;
}

std::string alternative_names_of(const X509* of)
{
    std::string names;
    for_each_alternative_name(of, [&names](int, std::string_view name) {
        names += names.empty() ? "" : ",";
        for (const char c : name) {
            names += c == ',' || c == '\\' ? "\\" : "";
            names += c;
        }
    });
    return names;
}

// Returns the certificate as a byte sequence of a structured field (RFC 8941 §3.3.5).
std::string field_of(const X509* c)
{
    unsigned char* der = nullptr;
    const int size = i2d_X509(c, &der);
    const owned<unsigned char, [](unsigned char* p) { OPENSSL_free(p); }> freed{der};
    std::string text(static_cast<std::size_t>((size + 2) / 3 * 4 + 1), '\0');
    const int written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), der, size);
    text.resize(static_cast<std::size_t>(written));
    return ':' + text + ':';
}

}  // namespace

std::optional<base::client_certificate> client_certificate_of(SSL* ssl, bool with_fields)
{
    const X509* const c = SSL_get0_peer_certificate(ssl);
    if (c == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) {
        return std::nullopt;
    }
    base::client_certificate found{
        fingerprint_of(c), subject_of(c), alternative_names_of(c), {}, {}};
    if (!with_fields) {
        return found;
    }
    found.field = field_of(c);
    // A resumed session has the certificate, but not those that vouched for it.
    const STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl);
    for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) {
        found.chain_field += (found.chain_field.empty() ? "" : ", ");
        found.chain_field += field_of(sk_X509_value(chain, i));
    }
    return found;
}

}  // namespace gateway::net
