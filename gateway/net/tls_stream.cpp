#include "gateway/net/tls_stream.hpp"

#include "gateway/base/ip_address.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <new>
#include <utility>

namespace gateway::net {

namespace {

std::optional<std::string> use(SSL_CTX* context, const tls_options& options)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (options.ca.text.empty()) {
        SSL_CTX_set_default_verify_paths(context);
    } else if (!trust(context, options.ca.text)) {
        return "ca: expected certificates in PEM form, and nothing that is damaged";
    }
    if (!options.certificate.text.empty() && !present(context, options.certificate.text)) {
        return "cert: expected certificates in PEM form, and nothing that is damaged";
    }
    if (!options.key.text.empty() && !use_key(context, options.key.text)) {
        return "key: no private key in PEM form, without a passphrase, that fits the certificate "
               "is in it";
    }
    return std::nullopt;
}

// A name may have a dot at its end, which no certificate has.
std::string without_final_dot(const std::string& name)
{
    return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
}

void expect(SSL* ssl, std::string name)
{
    bool expected = false;
    if (base::ip_address::parse(name)) {
        expected = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    } else {
        // SSL_set_tlsext_host_name() is a macro with casts of C.
        expected =
            SSL_set1_host(ssl, name.c_str()) == 1 &&
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) ==
                1;
    }
    if (!expected) {
        throw std::bad_alloc{};
    }
}

}  // namespace

void tls_stream::freer::operator()(SSL* of) const
{
    SSL_free(of);
}

std::optional<std::string> tls_stream::prepare(tls_options& options)
{
    options.context.reset(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (!options.context) {
        throw std::bad_alloc{};
    }
    auto complaint = use(options.context.get(), options);
    ERR_clear_error();
    return complaint;
}

tls_stream::tls_stream(const tls_options& options, const std::string& host)
    : ssl_(SSL_new(options.context.get()))
{
    from_server_ = BIO_new(BIO_s_mem());
    to_server_ = BIO_new(BIO_s_mem());
    if (!ssl_ || from_server_ == nullptr || to_server_ == nullptr) {
        throw std::bad_alloc{};
    }
    SSL_set_bio(ssl_.get(), from_server_, to_server_);
    SSL_set_connect_state(ssl_.get());
    expect(ssl_.get(), without_final_dot(options.server_name.empty() ? host : options.server_name));
    shake_hands();
}

// False: it has failed.
bool tls_stream::shake_hands()
{
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    if (done != 1) {
        return SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ || fail();
    }
    const std::string text = std::exchange(waiting_, {});
    send(text);
    return true;
}

bool tls_stream::fail()
{
    if (detail_.empty()) {
        const bool looks = SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE;
        const long verdict = looks ? SSL_get_verify_result(ssl_.get()) : X509_V_OK;
        const char* const reason = ERR_reason_error_string(ERR_peek_error());
        if (verdict != X509_V_OK) {
            detail_ =
                std::string{"the server's certificate: "} + X509_verify_cert_error_string(verdict);
        } else {
            detail_ = std::string{"TLS: "} + (reason == nullptr ? "failed" : reason);
        }
    }
    ERR_clear_error();
    return false;
}

// A memory BIO takes all that is written.
void tls_stream::send(std::string_view text)
{
    if (SSL_is_init_finished(ssl_.get()) == 0) {
        waiting_ += text;
        return;
    }
    std::size_t written = 0;
    if (!text.empty() && SSL_write_ex(ssl_.get(), text.data(), text.size(), &written) != 1) {
        fail();
    }
}

bool tls_stream::receive(std::span<const char> bytes, std::string& text)
{
    std::size_t taken = 0;
    if (!bytes.empty() && BIO_write_ex(from_server_, bytes.data(), bytes.size(), &taken) != 1) {
        return fail();
    }
    if (SSL_is_init_finished(ssl_.get()) == 0 && !shake_hands()) {
        return false;
    }
    std::array<char, 4096> piece;
    std::size_t count = 0;
    ERR_clear_error();
    while (SSL_read_ex(ssl_.get(), piece.data(), piece.size(), &count) == 1) {
        text.append(piece.data(), count);
    }
    const int why = SSL_get_error(ssl_.get(), 0);
    const bool goes_on = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_ZERO_RETURN;
    return (goes_on && detail_.empty()) || fail();
}

std::string tls_stream::take_output()
{
    std::string bytes(BIO_ctrl_pending(to_server_), '\0');
    std::size_t count = 0;
    if (!bytes.empty()) {
        BIO_read_ex(to_server_, bytes.data(), bytes.size(), &count);
    }
    bytes.resize(count);
    return bytes;
}

}  // namespace gateway::net
