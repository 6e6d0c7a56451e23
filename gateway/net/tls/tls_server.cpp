#include "gateway/net/tls/tls_server.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/base/text.hpp"
#include "gateway/net/tls/client_sessions.hpp"
#include "gateway/net/tls/owned.hpp"
#include "gateway/net/tls/revocation_lists.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>

namespace gateway::net {

namespace {

// Ciphers with forward secrecy and AEAD.
constexpr const char* modern = "ECDHE+AESGCM:ECDHE+CHACHA20";

// Returns the name in a client's first message, in lower case (RFC 6066 §3); empty if there is
// none.
std::string asked_name(SSL* ssl)
{
    const unsigned char* at = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &at, &size) != 1 || size < 5 ||
        at[2] != TLSEXT_NAMETYPE_host_name) {
        return {};
    }
    const std::size_t length = static_cast<std::size_t>(at[3]) << 8 | at[4];
    const std::string_view name{reinterpret_cast<const char*>(at) + 5, size - 5};
    return base::lower_case(base::without_final_dot(name.substr(0, length)));
}

// Accepts any name, upon which OpenSSL also stores it with the session.
int accept_name(SSL*, int*, void*)
{
    return SSL_TLSEXT_ERR_OK;
}

// Returns a text that differs if the options ask for certificates in another way, or if they trust
// other authorities or know others to be revoked. Servers that differ resume no sessions of each
// other, as resuming looks at no certificate again and asks for none.
std::string way_of_believing(const tls_server_options& options)
{
    const base::sha256_digest authorities = base::sha256(options.client_ca.text);
    const base::sha256_digest revoked = base::sha256(options.client_crl.text);
    return std::to_string(static_cast<int>(options.clients))
        .append(authorities.begin(), authorities.end())
        .append(revoked.begin(), revoked.end());
}

// Returns the kind of key with which ciphers authenticate the server, as OpenSSL counts.
int proof_of(const certificate_facts& facts)
{
    const bool is_rsa = facts.key_type == EVP_PKEY_RSA || facts.key_type == EVP_PKEY_RSA_PSS;
    return is_rsa ? NID_auth_rsa : NID_auth_ecdsa;
}

// Checks the ciphers of TLS 1.2 that a client can get, without those that the security level or the
// versions forbid or that no certificate fits. A list may name ciphers without encryption or
// without authentication of the server.
std::optional<std::string> complaint_about_ciphers(
    SSL_CTX* c, const std::vector<server_certificate>& certificates
)
{
    std::set<int> proofs;
    for (const server_certificate& one : certificates) {
        if (const auto facts = facts_of(one.certificate.text)) {
            proofs.insert(proof_of(*facts));
        }
    }
    const owned<SSL, SSL_free> one{SSL_new(c)};
    if (one == nullptr) {
        throw std::bad_alloc{};
    }
    const auto free_list = [](STACK_OF(SSL_CIPHER) * list) { sk_SSL_CIPHER_free(list); };
    const std::unique_ptr<STACK_OF(SSL_CIPHER), decltype(free_list)> usable{
        SSL_get1_supported_ciphers(one.get())};
    int good = 0;
    for (int i = 0; i < sk_SSL_CIPHER_num(usable.get()); ++i) {
        const SSL_CIPHER* const cipher = sk_SSL_CIPHER_value(usable.get(), i);
        const int proof = SSL_CIPHER_get_auth_nid(cipher);
        if (proof == NID_auth_null || SSL_CIPHER_get_cipher_nid(cipher) == NID_undef) {
            return "ciphers: " + std::string{SSL_CIPHER_get_name(cipher)} +
                   " proves nothing of the server, or does not encrypt";
        }
        // Ciphers of TLS 1.3 do not authenticate by themselves.
        good += proofs.contains(proof) ? 1 : 0;
    }
    return good > 0 ? std::nullopt
                    : std::optional<std::string>{
                          "ciphers: none of them can be used with these certificates"};
}

std::string position_of(std::size_t i, const char* key)
{
    return "certificates[" + std::to_string(i) + "]." + key + ": ";
}

}  // namespace

// `tls_callbacks` has the functions that OpenSSL calls back.
struct tls_callbacks {
    static tls_server& server_of(SSL* ssl)
    {
        return *static_cast<tls_server*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0));
    }

    // Called before anything is decided, so that a ticket's session is valid only for the name
    // under which it was made, and only where clients are verified in the same way
    // (CVE-2025-23419).
    static int hello(SSL* ssl, int*, void*)
    {
        const tls_server& server = server_of(ssl);
        const std::string name = asked_name(ssl);
        SSL_set_SSL_CTX(ssl, server.context_for(name));
        const base::sha256_digest id = base::sha256(server.believed_ + name);
        SSL_set_session_id_context(ssl, id.data(), id.size());
        static_cast<tls_engine*>(SSL_get_ex_data(ssl, 0))->note_asked_name(name);
        return SSL_CLIENT_HELLO_SUCCESS;
    }

    // Chooses the first of the client's protocols that is spoken here, or fails the handshake if
    // there is none. Each is one byte of length and its name (RFC 7301 §3.1). The signature is
    // OpenSSL's.
    static int
    // NOLINTNEXTLINE(readability-function-size)
    choose_protocol(SSL* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned int size, void*)
    {
        const spoken_protocols& ours = server_of(ssl).options_.protocols;
        const std::string_view all{reinterpret_cast<const char*>(in), size};
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t length = static_cast<unsigned char>(all[at]);
            const std::string_view name = all.substr(at + 1, length);
            if ((ours.http2 && name == "h2") || (ours.http1 && name == "http/1.1")) {
                *out = in + at + 1;
                *out_size = static_cast<unsigned char>(length);
                return SSL_TLSEXT_ERR_OK;
            }
            at += length + 1;
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }

    // The signature is OpenSSL's.
    // NOLINTNEXTLINE(readability-function-size)
    static int ticket(
        SSL* ssl,
        unsigned char* name,
        unsigned char* iv,
        EVP_CIPHER_CTX* cipher,
        EVP_MAC_CTX* mac,
        int make
    )
    {
        return server_of(ssl).tickets_.use(name, iv, cipher, mac, make == 1);
    }
};

void tls_server::freer::operator()(SSL_CTX* of) const
{
    SSL_CTX_free(of);
}

tls_server::tls_server(const tls_server_options& options, const ticket_secret& secret)
    : options_(options),
      tickets_(
          options.tickets.text.empty() ? ticket_keys{secret} : ticket_keys{options.tickets.text}
      ),
      believed_(way_of_believing(options))
{}

tls_server::~tls_server() = default;

std::optional<std::string> tls_server::check(const tls_server_options& options)
{
    if (options.tickets.text.size() % ticket_keys::written_bytes != 0 ||
        options.tickets.text.size() > ticket_keys::most * ticket_keys::written_bytes) {
        return "tickets_file: expected 1 to 3 keys of 80 bytes, as \"openssl rand 80\" makes them";
    }
    tls_server one{options, {}};
    auto complaint = one.prepare();
    if (!complaint && options.min_version == tls_version::v1_2) {
        complaint = complaint_about_ciphers(one.standard_, options.certificates);
    }
    ERR_clear_error();
    return complaint;
}

std::shared_ptr<tls_server> tls_server::make(
    const tls_server_options& options, const ticket_secret& secret
)
{
    std::shared_ptr<tls_server> made{new tls_server{options, secret}};
    // The options were in order when they were checked.
    if (made->prepare()) {
        throw std::bad_alloc{};
    }
    return made;
}

std::unique_ptr<tls_engine> tls_server::accept(const std::shared_ptr<tls_server>& by)
{
    auto engine = std::make_unique<tls_engine>(by->standard_, tls_engine::role::server, by);
    if (SSL_set_ex_data(engine->ssl(), 0, engine.get()) != 1) {
        throw std::bad_alloc{};
    }
    return engine;
}

// Gives each name a context with its certificates, one for each kind of key.
std::optional<std::string> tls_server::prepare()
{
    std::vector<certificate_facts> facts;
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (std::size_t i = 0; i < options_.certificates.size(); ++i) {
        auto read = facts_of(options_.certificates[i].certificate.text);
        if (!read) {
            return position_of(i, "cert") +
                   "expected certificates in PEM form, and nothing that is damaged";
        }
        if (!read->is_chain) {
            return position_of(i, "cert") +
                   "each certificate must be followed by the one that vouches for it";
        }
        for (const std::string& name : read->names) {
            std::vector<std::size_t>& has = by_name[name];
            if (std::none_of(has.begin(), has.end(), [&](std::size_t other) {
                    return facts[other].key_type == read->key_type;
                })) {
                has.push_back(i);
            }
        }
        facts.push_back(std::move(*read));
    }
    // A context for each certificate alone finds the faults even of one that no name has.
    for (std::size_t i = 0; i < facts.size(); ++i) {
        if (auto complaint = add_context({i})) {
            return complaint;
        }
    }
    for (const auto& [name, certificates] : by_name) {
        if (auto complaint = add_context(certificates)) {
            return complaint;
        }
        SSL_CTX* const c = contexts_.at(certificates).get();
        if (name.starts_with("*.")) {
            by_wildcard_.emplace(name.substr(2), c);
        } else {
            by_name_.emplace(name, c);
        }
    }
    const auto& names = facts.front().names;
    const auto first = names.empty() ? std::vector<std::size_t>{0} : by_name.at(names.front());
    standard_ = contexts_.at(first).get();
    return std::nullopt;
}

std::optional<std::string> tls_server::add_context(const std::vector<std::size_t>& certificates)
{
    context& c = contexts_[certificates];
    if (c != nullptr) {
        return std::nullopt;
    }
    c.reset(SSL_CTX_new(TLS_server_method()));
    if (c == nullptr) {
        throw std::bad_alloc{};
    }
    SSL_CTX_set_ex_data(c.get(), 0, this);
    if (auto complaint = set_up(c.get())) {
        return complaint;
    }
    for (const std::size_t i : certificates) {
        const server_certificate& one = options_.certificates[i];
        if (!present(c.get(), one.certificate.text)) {
            return position_of(i, "cert") + "OpenSSL does not take it: its key may be too short";
        }
        if (!use_key(c.get(), one.key.text)) {
            return position_of(i, "key") +
                   "no private key in PEM form, without a passphrase, that fits the certificate is "
                   "in it";
        }
    }
    return std::nullopt;
}

std::optional<std::string> tls_server::set_up(SSL_CTX* c) const
{
    SSL_CTX_set_min_proto_version(
        c, options_.min_version == tls_version::v1_3 ? TLS1_3_VERSION : TLS1_2_VERSION
    );
    SSL_CTX_set_options(
        c,
        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
            SSL_OP_PRIORITIZE_CHACHA
    );
    SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(c, 1);
    limit_client_sessions(c);
    // One ticket suffices, as in Go: a client that comes back gets another one.
    SSL_CTX_set_num_tickets(c, 1);
    SSL_CTX_set_client_hello_cb(c, tls_callbacks::hello, nullptr);
    // SSL_CTX_set_tlsext_servername_callback() is a macro with C casts.
    SSL_CTX_callback_ctrl(
        c, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, reinterpret_cast<void (*)()>(accept_name)
    );
    SSL_CTX_set_alpn_select_cb(c, tls_callbacks::choose_protocol, nullptr);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(c, tls_callbacks::ticket);
    const std::string& ciphers = options_.ciphers;
    if (SSL_CTX_set_cipher_list(c, ciphers.empty() ? modern : ciphers.c_str()) != 1) {
        return "ciphers: OpenSSL knows none of them";
    }
    if (options_.clients == client_certificates::none) {
        return std::nullopt;
    }
    if (!trust(c, options_.client_ca.text) || !ask_for(c, options_.client_ca.text)) {
        return "client_ca: expected certificates in PEM form, and nothing that is damaged";
    }
    const bool must = options_.clients == client_certificates::require;
    if (!verify_clients(c, options_.client_crl.text, must)) {
        return "client_crl: expected lists of revoked certificates (CRL) in PEM form, and nothing "
               "that is damaged";
    }
    return std::nullopt;
}

SSL_CTX* tls_server::context_for(std::string_view name) const
{
    if (const auto exact = by_name_.find(name); exact != by_name_.end()) {
        return exact->second;
    }
    const std::size_t dot = name.find('.');
    if (dot != std::string_view::npos && dot > 0) {
        const auto found = by_wildcard_.find(name.substr(dot + 1));
        if (found != by_wildcard_.end()) {
            return found->second;
        }
    }
    return standard_;
}

}  // namespace gateway::net
