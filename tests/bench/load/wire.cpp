#include "wire.hpp"

#include <openssl/err.h>

#include "socket.hpp"
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench {

namespace {

// One suite for everybody, so that only programs are compared.
tls_settings settings(const SSL_METHOD* method)
{
    tls_settings made{SSL_CTX_new(method), SSL_CTX_free};
    if (!made || SSL_CTX_set_min_proto_version(made.get(), TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(made.get(), "TLS_AES_128_GCM_SHA256") != 1) {
        fail("TLS");
    }
    SSL_CTX_set_mode(
        made.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
    );
    return made;
}

}  // namespace

tls_settings client_settings()
{
    return settings(TLS_client_method());
}

tls_settings server_settings(const std::string& pem)
{
    tls_settings made = settings(TLS_server_method());
    if (SSL_CTX_use_certificate_file(made.get(), pem.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(made.get(), pem.c_str(), SSL_FILETYPE_PEM) != 1) {
        fail(pem.c_str());
    }
    return made;
}

wire::wire(int fd, const tls_settings& tls, SSL_SESSION* session) : fd_{fd}
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (tls == nullptr) {
        return;
    }
    ssl_.reset(SSL_new(tls.get()));
    shaken_ = false;
    if (!ssl_ || SSL_set_fd(ssl_.get(), fd) != 1) {
        fail("TLS");
    }
    if (SSL_CTX_get_ssl_method(tls.get()) == TLS_server_method()) {
        SSL_set_accept_state(ssl_.get());
        return;
    }
    SSL_set_connect_state(ssl_.get());
    if (session != nullptr) {
        SSL_set_session(ssl_.get(), session);
    }
}

wire::hands wire::shake()
{
    if (!shaken_) {
        ERR_clear_error();
        const int done = SSL_do_handshake(ssl_.get());
        shaken_ = done == 1;
        const int why = SSL_get_error(ssl_.get(), done);
        if (!shaken_) {
            return why == SSL_ERROR_WANT_READ ? hands::being_shaken : hands::refused;
        }
    }
    return hands::shaken;
}

ssize_t wire::receive(char* into, std::size_t size)
{
    if (!ssl_) {
        const ssize_t got = recv(fd_, into, size, MSG_DONTWAIT);
        return got >= 0 ? got : errno == EAGAIN || errno == EINTR ? -1 : 0;
    }
    ERR_clear_error();
    std::size_t got = 0;
    if (SSL_read_ex(ssl_.get(), into, size, &got) == 1) {
        return static_cast<ssize_t>(got);
    }
    return SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_READ ? -1 : 0;
}

ssize_t wire::send(std::string_view text)
{
    if (!ssl_) {
        const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
        const bool waits = sent < 0 && (errno == EAGAIN || errno == EINTR);
        return sent >= 0 ? sent : waits ? -1 : static_cast<ssize_t>(text.size());
    }
    ERR_clear_error();
    std::size_t sent = 0;
    if (SSL_write_ex(ssl_.get(), text.data(), text.size(), &sent) == 1) {
        return static_cast<ssize_t>(sent);
    }
    const bool waits = SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_WRITE;
    return waits ? -1 : static_cast<ssize_t>(text.size());
}

bool wire::resumed() const
{
    return ssl_ != nullptr && SSL_session_reused(ssl_.get()) == 1;
}

SSL_SESSION* wire::session() const
{
    return ssl_ == nullptr ? nullptr : SSL_get1_session(ssl_.get());
}

void wire::close()
{
    if (ssl_) {
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
        ssl_.reset();
    }
    ::close(fd_);
    fd_ = -1;
    shaken_ = true;
}

}  // namespace bench
