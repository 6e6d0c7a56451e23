// Reads the alternative names of a certificate (RFC 5280 §4.2.1.6).
#pragma once

#include "gateway/net/tls/owned.hpp"

#include <openssl/x509v3.h>

#include <string_view>

namespace gateway::net {

// Passes each name that is a text (DNS names, URIs and mail addresses) to `use`, with its kind as
// OpenSSL counts (GEN_DNS).
template <typename Use>
void for_each_alternative_name(const X509* certificate, Use use)
{
    const owned<GENERAL_NAMES, GENERAL_NAMES_free> all{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)
    )};
    for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all.get(), i);
        if (name->type == GEN_DNS || name->type == GEN_URI || name->type == GEN_EMAIL) {
            const auto* const bytes =
                reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.ia5));
            const auto size = static_cast<std::size_t>(ASN1_STRING_length(name->d.ia5));
            use(name->type, std::string_view{bytes, size});
        }
    }
}

}  // namespace gateway::net
