#include "gateway/net/tls/certificates.hpp"

#include "gateway/base/text.hpp"
#include "gateway/net/tls/alternative_names.hpp"
#include "gateway/net/tls/owned.hpp"
#include "gateway/net/tls/pem_reader.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace gateway::net {

namespace {

using certificate = owned<X509, X509_free>;
using private_key = owned<EVP_PKEY, EVP_PKEY_free>;

std::string text_of(const ASN1_STRING* s)
{
    const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(s));
    return base::lower_case(std::string(bytes, static_cast<std::size_t>(ASN1_STRING_length(s))));
}

std::vector<std::string> names_of(const X509* one)
{
    std::vector<std::string> names;
    for_each_alternative_name(one, [&names](int kind, std::string_view name) {
        if (kind == GEN_DNS) {
            names.push_back(base::lower_case(name));
        }
    });
    const X509_NAME* const subject = X509_get_subject_name(one);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (names.empty() && at >= 0) {
        names.push_back(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
    }
    return names;
}

}  // namespace

bool trust(SSL_CTX* context, const std::string& text)
{
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    return for_each_certificate(text, [store](X509* c, int) {
        return X509_STORE_add_cert(store, c) == 1;
    });
}

bool ask_for(SSL_CTX* context, const std::string& text)
{
    return for_each_certificate(text, [context](X509* c, int) {
        return SSL_CTX_add_client_CA(context, c) == 1;
    });
}

bool present(SSL_CTX* context, const std::string& text)
{
    return for_each_certificate(text, [context](X509* c, int i) {
        return (i == 0 ? SSL_CTX_use_certificate(context, c) : SSL_CTX_add1_chain_cert(context, c)
               ) == 1;
    });
}

bool use_key(SSL_CTX* context, const std::string& text)
{
    const pem_text from = pem_text_of(text);
    const private_key key{PEM_read_bio_PrivateKey(from.get(), nullptr, no_password, nullptr)};
    return key && SSL_CTX_use_PrivateKey(context, key.get()) == 1 &&
           SSL_CTX_check_private_key(context) == 1;
}

std::optional<certificate_facts> facts_of(const std::string& text)
{
    certificate_facts facts;
    certificate before;
    const bool whole = for_each_certificate(text, [&](X509* c, int i) {
        const EVP_PKEY* const key = X509_get0_pubkey(c);
        if (i == 0 && key == nullptr) {
            return false;
        }
        if (i == 0) {
            facts.names = names_of(c);
            facts.key_type = EVP_PKEY_get_base_id(key);
        } else {
            facts.is_chain = facts.is_chain && X509_check_issued(c, before.get()) == X509_V_OK;
        }
        facts.holds.push_back(
            {unix_time_of(X509_get0_notBefore(c)), unix_time_of(X509_get0_notAfter(c))}
        );
        X509_up_ref(c);
        before.reset(c);
        return true;
    });
    ERR_clear_error();
    return whole ? std::optional{std::move(facts)} : std::nullopt;
}

}  // namespace gateway::net
