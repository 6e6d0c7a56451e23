#include "gateway/net/tls_stream.hpp"

#include "gateway/base/ip_address.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

namespace gateway::net {

namespace {

template <class Object, auto Free>
struct owned_by {
    void operator()(Object* o) const { Free(o); }
};

template <class Object, auto Free>
using owned = std::unique_ptr<Object, owned_by<Object, Free>>;

using certificate = owned<X509, X509_free>;
using private_key = owned<EVP_PKEY, EVP_PKEY_free>;
using reader = owned<BIO, BIO_free_all>;

reader reader_of(const std::string& text)
{
    constexpr std::size_t most = std::numeric_limits<int>::max();
    return reader{BIO_new_mem_buf(text.data(), static_cast<int>(std::min(text.size(), most)))};
}

// A key that is encrypted is not asked about at the terminal.
int no_password(char*, int, int, void*)
{
    return 0;
}

certificate next_certificate(BIO* from)
{
    return certificate{PEM_read_bio_X509(from, nullptr, no_password, nullptr)};
}

// How many there were.
int trust(SSL_CTX* context, const std::string& text)
{
    const reader from = reader_of(text);
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    int count = 0;
    for (auto one = next_certificate(from.get()); one; one = next_certificate(from.get())) {
        count += X509_STORE_add_cert(store, one.get());
    }
    return count;
}

bool present(SSL_CTX* context, const std::string& text)
{
    const reader from = reader_of(text);
    const certificate own = next_certificate(from.get());
    if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
        return false;
    }
    for (auto one = next_certificate(from.get()); one; one = next_certificate(from.get())) {
        if (SSL_CTX_add1_chain_cert(context, one.get()) != 1) {
            return false;
        }
    }
    return true;
}

bool use_key(SSL_CTX* context, const std::string& text)
{
    const reader from = reader_of(text);
    const private_key key{PEM_read_bio_PrivateKey(from.get(), nullptr, no_password, nullptr)};
    return key && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

void expect(SSL* ssl, const std::string& name)
{
    if (base::ip_address::parse(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
    } else {
        SSL_set1_host(ssl, name.c_str());
        // SSL_set_tlsext_host_name(), which is a macro with casts of C.
        std::string sni = name;
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, sni.data());
    }
}

}  // namespace

void tls_stream::freer::operator()(SSL_CTX* of) const
{
    SSL_CTX_free(of);
}

void tls_stream::freer::operator()(SSL* of) const
{
    SSL_free(of);
}

std::optional<std::string> tls_stream::use(SSL_CTX* context, const tls_options& options)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (options.ca.text.empty()) {
        SSL_CTX_set_default_verify_paths(context);
    } else if (trust(context, options.ca.text) == 0) {
        return "ca: no certificate in PEM form is in it";
    }
    const bool has_certificate = !options.certificate.text.empty();
    if (has_certificate && !present(context, options.certificate.text)) {
        return "cert: no certificate in PEM form is in it";
    }
    if (!options.key.text.empty() && !use_key(context, options.key.text)) {
        return "key: no private key in PEM form, without a passphrase, that fits the certificate "
               "is in it";
    }
    return std::nullopt;
}

std::optional<std::string> tls_stream::complaint_about(const tls_options& options)
{
    const std::unique_ptr<SSL_CTX, freer> context{SSL_CTX_new(TLS_client_method())};
    auto complaint = context ? use(context.get(), options) : "ca: no memory";
    ERR_clear_error();
    return complaint;
}

tls_stream::tls_stream(const tls_options& options, const std::string& host)
    : context_(SSL_CTX_new(TLS_client_method()))
{
    if (!context_) {
        throw std::bad_alloc{};
    }
    use(context_.get(), options);
    ssl_.reset(SSL_new(context_.get()));
    from_server_ = BIO_new(BIO_s_mem());
    to_server_ = BIO_new(BIO_s_mem());
    if (!ssl_ || from_server_ == nullptr || to_server_ == nullptr) {
        throw std::bad_alloc{};
    }
    SSL_set_bio(ssl_.get(), from_server_, to_server_);
    SSL_set_connect_state(ssl_.get());
    expect(ssl_.get(), options.server_name.empty() ? host : options.server_name);
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
        const long verdict = SSL_get_verify_result(ssl_.get());
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
