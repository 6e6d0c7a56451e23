// Reads the objects in a text in PEM form, one after the other.
#pragma once

#include "gateway/net/tls/owned.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <chrono>
#include <string>

namespace gateway::net {

using pem_text = owned<BIO, BIO_free_all>;

// Returns a reader of `text`.
// Requires: `text` outlives the reader.
pem_text pem_text_of(const std::string& text);

// Gives OpenSSL no password for an encrypted key, so that nobody is asked at the terminal.
int no_password(char*, int, int, void*);

// Returns the time since 1970, or 0 if the text of `time` is malformed.
std::chrono::seconds unix_time_of(const ASN1_TIME* time);

// Passes each object that `next` reads to `use`, with its number. False if there is none, or one of
// them is damaged or rejected by `use`.
template <typename Next, typename Use>
bool for_each_pem(const std::string& text, Next next, Use use)
{
    ERR_clear_error();
    const pem_text from = pem_text_of(text);
    int count = 0;
    for (auto one = next(from.get()); one; one = next(from.get())) {
        if (!use(one.get(), count++)) {
            return false;
        }
    }
    const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return count > 0 && ended;
}

template <typename Use>
bool for_each_certificate(const std::string& text, Use use)
{
    return for_each_pem(
        text,
        [](BIO* from) {
            return owned<X509, X509_free>{PEM_read_bio_X509(from, nullptr, no_password, nullptr)};
        },
        use
    );
}

}  // namespace gateway::net
