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
// Whoever is vouched for by one of these is believed, whether or not somebody else vouches for
// that one.
bool trust(SSL_CTX* context, const std::string& text);

// Clients are told that certificates which these vouch for are wanted.
bool ask_for(SSL_CTX* context, const std::string& text);

// The first certificate is our own, the others vouch for it. Of each kind of key (RSA, ECDSA) a
// context may have one.
bool present(SSL_CTX* context, const std::string& text);

// The key of the certificate that was presented last; without a passphrase.
bool use_key(SSL_CTX* context, const std::string& text);

// When a certificate holds, since 1970.
struct validity {
    std::chrono::seconds not_before{};
    std::chrono::seconds not_after{};
};

// What certificates say of themselves: the first one, but where something else is said.
struct certificate_facts {
    // The DNS names that it is for, in lower case; without any, its common name.
    std::vector<std::string> names{};
    // What kind its key is, as OpenSSL counts (EVP_PKEY_RSA).
    int key_type = 0;
    // Of each certificate of the text.
    std::vector<validity> holds{};
    // Whether each certificate of the text was issued by the one behind it.
    bool is_chain = true;
};

// Nothing: there is no certificate in the text, one is damaged, or the first one's key is of no
// kind that OpenSSL knows.
std::optional<certificate_facts> facts_of(const std::string& text);

}  // namespace gateway::net
