#include "gateway/net/tls/tls_engine.hpp"

#include "gateway/base/text.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace gateway::net {

namespace {

// Clears OpenSSL's queue of errors, as SSL_get_error() would take a leftover for the failure of the
// call before. Clearing an empty queue costs twenty times as much as looking.
void forget_errors()
{
    if (ERR_peek_error() != 0) {
        ERR_clear_error();
    }
}

// True for a letter, with which no TLS record begins, nor a first message of SSL 2.
bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

// `tls_bio` lets OpenSSL read from and write to the buffers that the engine was lent.
struct tls_bio {
    static tls_engine& engine_of(BIO* b) { return *static_cast<tls_engine*>(BIO_get_data(b)); }

    static int read(BIO* b, char* into, std::size_t size, std::size_t* count)
    {
        std::span<const char>& in = engine_of(b).in_;
        BIO_clear_retry_flags(b);
        *count = std::min(size, in.size());
        if (*count == 0) {
            BIO_set_retry_read(b);
            return 0;
        }
        std::memcpy(into, in.data(), *count);
        in = in.subspan(*count);
        return 1;
    }

    static int write(BIO* b, const char* bytes, std::size_t size, std::size_t* count)
    {
        BIO_clear_retry_flags(b);
        engine_of(b).out_->append(bytes, size);
        *count = size;
        return 1;
    }

    static long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

    static int create(BIO* b)
    {
        BIO_set_init(b, 1);
        return 1;
    }

    static BIO_METHOD* method()
    {
        static BIO_METHOD* const made = [] {
            BIO_METHOD* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "lent");
            if (m == nullptr) {
                throw std::bad_alloc{};
            }
            BIO_meth_set_read_ex(m, read);
            BIO_meth_set_write_ex(m, write);
            BIO_meth_set_ctrl(m, control);
            BIO_meth_set_create(m, create);
            return m;
        }();
        return made;
    }
};

void tls_engine::freer::operator()(SSL* of) const
{
    SSL_free(of);
}

tls_engine::tls_engine(SSL_CTX* settings, role r, std::shared_ptr<const void> keeps)
    : keeps_(std::move(keeps)), ssl_(SSL_new(settings)), role_(r)
{
    BIO* const lent = BIO_new(tls_bio::method());
    if (!ssl_ || lent == nullptr) {
        BIO_free(lent);
        throw std::bad_alloc{};
    }
    BIO_set_data(lent, this);
    SSL_set_bio(ssl_.get(), lent, lent);
    SSL_set_msg_callback(ssl_.get(), count_record);
    // SSL_set_msg_callback_arg() is a macro with casts of C.
    SSL_ctrl(ssl_.get(), SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, this);
    r == role::server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
}

// Marks an intact session as shut down: a connection that was cut off says nothing against its
// session (RFC 5246 §7.2.1), but OpenSSL would not resume it.
tls_engine::~tls_engine()
{
    if (!failed_) {
        SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }
}

tls_engine::result tls_engine::receive(
    std::span<const char> coded, std::span<char> into, std::size_t& count, std::string& out
)
{
    in_ = coded;
    out_ = &out;
    count = 0;
    if (failed_) {
        return result::failed;
    }
    if (role_ == role::server && !coded.empty() && !has_begun() && is_letter(coded.front())) {
        heard_plain_text_ = true;
        return fail();
    }
    send_ticket(out);
    if (!read_text(into, count)) {
        return fail();
    }
    if (!shaken_ && can_send()) {
        shaken_ = true;
        noted_name_.clear();
        if (count > 0 && waiting_.empty()) {
            keep_ticket(out);
        }
    }
    if (!send_waiting()) {
        return result::failed;
    }
    if (count > 0) {
        return result::text;
    }
    return peer_ended_ ? result::closed : result::nothing;
}

// Reads all the text there is. Once there is some and nothing behind it, OpenSSL is not asked for
// more, as it would take a buffer to find that nothing has come.
bool tls_engine::read_text(std::span<char> into, std::size_t& count)
{
    std::size_t read = 0;
    forget_errors();
    while (SSL_read_ex(ssl_.get(), into.data() + count, into.size() - count, &read) == 1) {
        count += read;
        awaits_text_ = false;
        if (in_.empty() && SSL_has_pending(ssl_.get()) == 0) {
            return true;
        }
    }
    const int why = SSL_get_error(ssl_.get(), 0);
    peer_ended_ = peer_ended_ || why == SSL_ERROR_ZERO_RETURN;
    return !flooded_ && (why == SSL_ERROR_ZERO_RETURN || why == SSL_ERROR_WANT_READ);
}

// Called by OpenSSL for the header of each record, as it processes a record without text itself and
// goes on to the next one. The signature is OpenSSL's.
// NOLINTNEXTLINE(readability-function-size)
void tls_engine::count_record(
    int written, int, int kind, const void*, std::size_t, SSL*, void* engine
)
{
    if (written == 0 && kind == SSL3_RT_HEADER) {
        static_cast<tls_engine*>(engine)->begin_record();
    }
}

void tls_engine::begin_record()
{
    const bool was_empty = awaits_text_;
    awaits_text_ = can_send();
    if (!was_empty) {
        return;
    }
    const base::instant now = base::now();
    empty_until_ = std::max(empty_until_, now) + empty_record_interval;
    if (empty_until_ > now + max_empty_records * empty_record_interval) {
        flooded_ = true;
        // OpenSSL drops the bytes that it has read, and returns at once.
        SSL_set_shutdown(ssl_.get(), SSL_RECEIVED_SHUTDOWN);
    }
}

bool tls_engine::can_send() const
{
    return SSL_is_init_finished(ssl_.get()) == 1;
}

// Keeps the ticket of TLS 1.3 only: the handshake of TLS 1.2 ends with these bytes, and its clients
// wait for them.
void tls_engine::keep_ticket(std::string& out)
{
    if (role_ == role::server && SSL_version(ssl_.get()) == TLS1_3_VERSION) {
        ticket_ = out;
        out.clear();
    }
}

void tls_engine::send_ticket(std::string& out)
{
    if (!ticket_.empty()) {
        out += std::exchange(ticket_, {});
    }
}

bool tls_engine::send_waiting()
{
    if (waiting_.empty() || !can_send()) {
        return true;
    }
    const std::string text = std::exchange(waiting_, {});
    return send(text, *out_);
}

tls_engine::result tls_engine::fail()
{
    failed_ = true;
    const long verdict = SSL_get_verify_result(ssl_.get());
    const char* const reason = ERR_reason_error_string(ERR_peek_error());
    if (heard_plain_text_) {
        detail_ = "TLS: the client speaks without TLS";
    } else if (flooded_) {
        detail_ = "TLS: too many records without data";
    } else if (verdict != X509_V_OK && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE) {
        const std::string whose = role_ == role::client ? "the server's" : "the client's";
        distrusts_peer_ = true;
        detail_ = whose + " certificate: " + X509_verify_cert_error_string(verdict);
    } else {
        detail_ = std::string{"TLS: "} + (reason == nullptr ? "failed" : reason);
    }
    ERR_clear_error();
    return result::failed;
}

bool tls_engine::send(std::string_view text, std::string& out)
{
    if (failed_ || text.empty()) {
        return !failed_;
    }
    if (!can_send()) {
        const bool fits = text.size() <= most_kept - waiting_.size();
        waiting_ += fits ? text : std::string_view{};
        return fits;
    }
    send_ticket(out);
    out_ = &out;
    std::size_t written = 0;
    forget_errors();
    if (SSL_write_ex(ssl_.get(), text.data(), text.size(), &written) != 1) {
        fail();
        return false;
    }
    return true;
}

void tls_engine::send_close_notify(std::string& out)
{
    if (failed_ || shaking_hands() || (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0) {
        return;
    }
    send_ticket(out);
    out_ = &out;
    forget_errors();
    SSL_shutdown(ssl_.get());
    forget_errors();
}

bool tls_engine::has_begun() const
{
    return SSL_in_before(ssl_.get()) == 0;
}

bool tls_engine::has_part() const
{
    return SSL_has_pending(ssl_.get()) == 1;
}

bool tls_engine::resumed() const
{
    return SSL_session_reused(ssl_.get()) == 1;
}

std::string_view tls_engine::protocol() const
{
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

std::string_view tls_engine::asked_name() const
{
    const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return base::without_final_dot(name == nullptr ? std::string_view{noted_name_} : name);
}

}  // namespace gateway::net
