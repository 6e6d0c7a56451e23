// Puts certificates and keys in PEM form into OpenSSL's contexts, and reads facts about them.
// Nothing here reads files.
#pragma once

#include <openssl/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gateway::net {

// A file and its contents when it was read.
struct pem_file {
    std::string path;
    std::string text;

    bool operator==(const pem_file&) const = default;
};

// Each of the next four functions returns false if the text is damaged or holds nothing of the
// kind; the context is then of no use.
//
// Trusts certificates that one in `text` vouches for. That one need not be a root
// (X509_V_FLAG_PARTIAL_CHAIN).
bool trust(SSL_CTX* context, const std::string& text);

// Tells clients that certificates from these authorities are wanted.
bool ask_for(SSL_CTX* context, const std::string& text);

// Presents the first certificate as the gateway's own; the others vouch for it. A context can have
// one certificate for each kind of key (RSA, ECDSA).
bool present(SSL_CTX* context, const std::string& text);

// Uses the key of the certificate that was presented last; it must have no passphrase.
bool use_key(SSL_CTX* context, const std::string& text);

// The time during which a certificate or list is valid, in seconds since 1970.
struct validity {
    std::chrono::seconds not_before{};
    std::chrono::seconds not_after{};
};

// Facts about the certificates of a text; about the first one, unless a field says otherwise.
struct certificate_facts {
    // The DNS names that the certificate is for, in lower case; its common name if there are none.
    std::vector<std::string> names{};
    // The kind of its key, as OpenSSL counts (EVP_PKEY_RSA).
    int key_type = 0;
    // Validity of each certificate of the text.
    std::vector<validity> holds{};
    // True if each certificate of the text was issued by the one behind it.
    bool is_chain = true;
};

// Returns the facts; nothing if the text holds no certificate, one is damaged, or the first one's
// key is of a kind that OpenSSL does not know.
std::optional<certificate_facts> facts_of(const std::string& text);

}  // namespace gateway::net
