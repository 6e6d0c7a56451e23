#include "gateway/net/tls/revocation_lists.hpp"

#include "gateway/net/tls/owned.hpp"
#include "gateway/net/tls/pem_reader.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <chrono>

namespace gateway::net {

namespace {

using owned_crl = owned<X509_CRL, X509_CRL_free>;

// Passes each list to `use`. False if there is none, or one of them is damaged or rejected by
// `use`.
template <typename Use>
bool for_each_list(const std::string& text, Use use)
{
    return for_each_pem(
        text,
        [](BIO* from) {
            return owned_crl{PEM_read_bio_X509_CRL(from, nullptr, no_password, nullptr)};
        },
        use
    );
}

bool is_signed_by_one_of(X509_CRL* one, const std::string& authorities)
{
    bool found = false;
    for_each_certificate(authorities, [&](X509* authority, int) {
        EVP_PKEY* const key = X509_get0_pubkey(authority);
        const bool is_issuer =
            X509_NAME_cmp(X509_CRL_get_issuer(one), X509_get_subject_name(authority)) == 0;
        found = found || (is_issuer && key != nullptr && X509_CRL_verify(one, key) == 1);
        return true;
    });
    ERR_clear_error();
    return found;
}

// Accepts an authority about which there is no list: only its own issuer has such a list, and that
// may be unknown here.
int check_certificate(int good, X509_STORE_CTX* of)
{
    const bool lacks_list = X509_STORE_CTX_get_error(of) == X509_V_ERR_UNABLE_TO_GET_CRL;
    if (good == 0 && lacks_list && X509_STORE_CTX_get_error_depth(of) > 0) {
        X509_STORE_CTX_set_error(of, X509_V_OK);
        return 1;
    }
    return good;
}

}  // namespace

std::optional<revocation_facts> revocation_facts_of(
    const std::string& lists, const std::string& authorities
)
{
    revocation_facts facts;
    const bool whole = for_each_list(lists, [&](X509_CRL* one, int i) {
        if (facts.foreign == 0 && !is_signed_by_one_of(one, authorities)) {
            facts.foreign = static_cast<std::size_t>(i) + 1;
        }
        const ASN1_TIME* const end = X509_CRL_get0_nextUpdate(one);
        facts.holds.push_back(
            {unix_time_of(X509_CRL_get0_lastUpdate(one)),
             end == nullptr ? std::chrono::seconds::max() : unix_time_of(end)}
        );
        return true;
    });
    return whole ? std::optional{std::move(facts)} : std::nullopt;
}

bool verify_clients(SSL_CTX* context, const std::string& lists, bool must)
{
    SSL_CTX_set_verify(
        context,
        SSL_VERIFY_PEER | (must ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
        lists.empty() ? nullptr : check_certificate
    );
    if (lists.empty()) {
        return true;
    }
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return for_each_list(lists, [store](X509_CRL* one, int) {
        return X509_STORE_add_crl(store, one) == 1;
    });
}

}  // namespace gateway::net
