// `tls_engine` is the TLS of one connection, by OpenSSL, over buffers that are lent to it.
// Encrypted bytes of the peer go in, text comes out, and bytes to be sent are appended where the
// caller says. Between calls it holds nothing but a record that has come in part.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"

#include <openssl/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::net {

class tls_engine {
public:
    // Returns the most bytes of text in `coded` bytes; all but the end of a record may have come
    // before.
    static constexpr std::size_t text_bytes(std::size_t coded) { return coded + 32 * 1024; }

    enum class result {
        // Some text has come.
        text,
        // No text has come yet.
        nothing,
        // The peer has announced that it sends no more.
        closed,
        // The peer speaks no TLS or is not the one expected; detail() has the reason.
        failed
    };

    enum class role { server, client };

    // Makes the engine from `settings` with SSL_new(), and keeps `keeps` alive as long as itself.
    tls_engine(SSL_CTX* settings, role r, std::shared_ptr<const void> keeps);
    ~tls_engine();
    tls_engine(const tls_engine&) = delete;
    tls_engine& operator=(const tls_engine&) = delete;

    // Decrypts `coded` to the beginning of `into`, which has room for text_bytes() of it, and
    // stores the number of bytes of text in `count`. Bytes to be sent are appended to `out`, even
    // after a failure. Without bytes a client begins its handshake.
    result receive(
        std::span<const char> coded, std::span<char> into, std::size_t& count, std::string& out
    );

    // Most bytes of text kept while nothing can be sent: before the end of the handshake, and while
    // a later handshake message, such as a ticket, has come in part.
    static constexpr std::size_t most_kept = 256 * 1024;

    // Most records without text, such as key updates or empty records, that a peer may send at once
    // after the handshake. One more is allowed after each interval; past that receive() fails. Each
    // costs as much as a request, and none extends a deadline.
    static constexpr int max_empty_records = 32;
    static constexpr base::duration empty_record_interval = std::chrono::seconds{1};

    // Encrypts text for the peer. False if it can neither be sent nor kept.
    [[nodiscard]] bool send(std::string_view text, std::string& out);

    // Encodes close_notify, once: no more is sent.
    void send_close_notify(std::string& out);

    // True for a client, which begins in receive() without bytes.
    bool speaks_first() const { return role_ == role::client; }

    // True until the first handshake has ended.
    bool shaking_hands() const { return !shaken_; }

    // True if something has come, so that the handshake has begun.
    bool has_begun() const;

    // True if a part of a record has come and its end has not.
    bool has_part() const;

    // True, after the handshake, if it resumed an earlier session.
    bool resumed() const;

    // Returns the protocol that both have agreed on by ALPN (RFC 7301); empty if there is none.
    std::string_view protocol() const;

    // True if the peer has announced that it sends no more.
    bool peer_has_ended() const { return peer_ended_; }

    // True if the peer may end without announcing it in TLS. A client may, as it could have asked
    // for more and did not. If a server does, somebody may have cut off a piece.
    bool may_end_silently() const { return role_ == role::server; }

    // Returns the name that a client has asked for, without a final dot; empty if there is none.
    std::string_view asked_name() const;

    // Keeps the name in a client's first message until the handshake has ended, as OpenSSL does not
    // know it if the handshake fails early.
    void note_asked_name(std::string name) { noted_name_ = std::move(name); }

    // Adds `more` to the bytes of answers that the peer has not read, and returns their sum.
    std::size_t count_unread(std::size_t more) { return unread_ += more; }

    // Resets that sum, when the peer has read.
    void forget_unread() { unread_ = 0; }

    SSL* ssl() const { return ssl_.get(); }

    bool failed() const { return failed_; }

    // True after a failure whose cause is the certificate that the peer has shown.
    bool distrusts_peer() const { return distrusts_peer_; }

    // True after a failure because the peer has sent too many records without text.
    bool flooded() const { return flooded_; }

    // True after a failure because the first bytes are text and not TLS, as of a client that speaks
    // HTTP without TLS. Nothing has been sent.
    bool heard_plain_text() const { return heard_plain_text_; }

    const std::string& detail() const { return detail_; }

private:
    struct freer {
        void operator()(SSL* of) const;
    };

    std::shared_ptr<const void> keeps_;
    std::unique_ptr<SSL, freer> ssl_;
    role role_;
    bool shaken_ = false;
    bool peer_ended_ = false;
    bool failed_ = false;
    bool distrusts_peer_ = false;
    bool flooded_ = false;
    bool heard_plain_text_ = false;
    // True if the last record has given no text: its text has not come yet, or it has none.
    bool awaits_text_ = false;
    // Time up to which records without text have used up their allowance.
    base::instant empty_until_{};
    // Buffers lent during a call.
    std::span<const char> in_;
    std::string* out_ = nullptr;
    std::size_t unread_ = 0;
    // Text kept until it can be sent.
    std::string waiting_;
    // The encrypted session ticket for a client that has sent text with the end of its handshake.
    // It goes out with the next bytes sent, which saves a segment.
    std::string ticket_;
    std::string noted_name_;
    std::string detail_;

    friend struct tls_bio;

    static void count_record(
        int written, int, int kind, const void*, std::size_t, SSL* of, void* engine
    );
    void begin_record();
    bool read_text(std::span<char> into, std::size_t& count);
    bool can_send() const;
    void keep_ticket(std::string& out);
    void send_ticket(std::string& out);
    bool send_waiting();
    result fail();
};

}  // namespace gateway::net
