// Certificates and keys in PEM form, as OpenSSL's contexts are given them. Nothing is read from
// files here.
#pragma once

#include <openssl/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gateway::net {

// A file and what it held when it was read.
struct pem_file {
    std::string path;
    std::string text;

    bool operator==(const pem_file&) const = default;
};

// Each of these is false, and the context of no use, if the text is damaged or holds nothing of
// the kind.
// Whoever is vouched for by these is believed.
bool trust(SSL_CTX* context, const std::string& text);

// The first certificate is our own, the others vouch for it. Of each kind of key (RSA, ECDSA) a
// context may have one.
bool present(SSL_CTX* context, const std::string& text);

// The key of the certificate that was presented last; without a passphrase.
bool use_key(SSL_CTX* context, const std::string& text);

// What a server's certificate says of itself.
struct certificate_facts {
    // The DNS names that it is for, in lower case; without any, its common name.
    std::vector<std::string> names{};
    // What kind its key is, as OpenSSL counts (EVP_PKEY_RSA).
    int key_type = 0;
    // Since 1970.
    std::chrono::seconds not_before{};
    std::chrono::seconds not_after{};
    // Of the whole text: whether each certificate was issued by the one behind it.
    bool is_chain = true;
};

// Of the first certificate of the text; nothing: there is none, or one is damaged.
std::optional<certificate_facts> facts_of(const std::string& text);

}  // namespace gateway::net
