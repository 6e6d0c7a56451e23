#include "gateway/net/tls/tls_client.hpp"

#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/net/tls/system_authorities.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <new>
#include <utility>

namespace gateway::net {

namespace {

constexpr base::duration longest_resumed = std::chrono::hours{24};

}  // namespace

std::optional<std::string> tls_client::prepare(tls_client_options& options)
{
    options.context.reset(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (!options.context) {
        throw std::bad_alloc{};
    }
    if (options.ca.text.empty()) {
        options.system_edition = edition_of_system_authorities();
    }
    auto complaint = set_up(options.context.get(), options);
    ERR_clear_error();
    return complaint;
}

std::optional<std::string> tls_client::set_up(SSL_CTX* c, const tls_client_options& options)
{
    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(c, 1);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(c, remember);
    SSL_CTX_set_verify(c, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (options.ca.text.empty()) {
        SSL_CTX_set_default_verify_paths(c);
    } else if (!trust(c, options.ca.text)) {
        return "ca: expected certificates in PEM form, and nothing that is damaged";
    }
    if (!options.certificate.text.empty() && !present(c, options.certificate.text)) {
        return "cert: expected certificates in PEM form, and nothing that is damaged";
    }
    if (!options.key.text.empty() && !use_key(c, options.key.text)) {
        return "key: no private key in PEM form, without a passphrase, that fits the certificate "
               "is in it";
    }
    return std::nullopt;
}

// Called by OpenSSL when a server has given a session; a result of 1 takes it over.
int tls_client::remember(SSL* ssl, SSL_SESSION* session)
{
    auto* const client = static_cast<tls_client*>(SSL_get_ex_data(ssl, 0));
    if (client == nullptr) {
        return 0;
    }
    client->session_.reset(session);
    if (SSL_session_reused(ssl) == 0) {
        client->shown_ = base::now();
    }
    return 1;
}

tls_client::tls_client(std::shared_ptr<SSL_CTX> context, std::string name, bool http2)
    : context_(std::move(context)), name_(std::move(name)), http2_(http2)
{}

std::shared_ptr<tls_client> tls_client::make(
    const tls_client_options& options, const std::string& host
)
{
    const std::string& name = options.server_name.empty() ? host : options.server_name;
    return std::shared_ptr<tls_client>{
        new tls_client{options.context, std::string{base::without_final_dot(name)}, options.http2}};
}

std::unique_ptr<tls_engine> tls_client::connect(const std::shared_ptr<tls_client>& to)
{
    auto engine = std::make_unique<tls_engine>(to->context(), tls_engine::role::client, to);
    to->expect_server(engine->ssl());
    if (SSL_set_ex_data(engine->ssl(), 0, to.get()) != 1) {
        throw std::bad_alloc{};
    }
    if (to->session_holds()) {
        SSL_set_session(engine->ssl(), to->session_.get());
    }
    return engine;
}

// True if the session may be resumed. Its age and certificate are checked here, as resuming looks
// at no certificate again.
bool tls_client::session_holds() const
{
    if (!session_ || base::now() - shown_ > longest_resumed) {
        return false;
    }
    const X509* const shown = SSL_SESSION_get0_peer(session_.get());
    const bool verifies = SSL_CTX_get_verify_mode(context_.get()) != SSL_VERIFY_NONE;
    return !verifies || (shown != nullptr && X509_cmp_current_time(X509_get0_notAfter(shown)) > 0);
}

void tls_client::expect_server(SSL* ssl) const
{
    if (http2_) {
        static constexpr std::array<unsigned char, 3> offered{2, 'h', '2'};
        SSL_set_alpn_protos(ssl, offered.data(), offered.size());
    }
    if (name_.empty()) {
        // A server that is not verified may have no name.
        return;
    }
    bool expected = false;
    if (base::ip_address::parse(name_)) {
        expected = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name_.c_str()) == 1;
    } else {
        // SSL_set_tlsext_host_name() is a macro with C casts.
        std::string name = name_;
        // A wildcard is a whole label, and the subject is not searched for names (RFC 9525 §6.3).
        SSL_set_hostflags(
            ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        );
        expected =
            SSL_set1_host(ssl, name.c_str()) == 1 &&
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) ==
                1;
    }
    if (!expected) {
        throw std::bad_alloc{};
    }
}

}  // namespace gateway::net
