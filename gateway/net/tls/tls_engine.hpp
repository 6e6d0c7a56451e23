// TLS of one connection, by OpenSSL, over buffers that are lent to it: coded bytes of the peer go
// in, text comes out, and what is to be sent is appended where the caller says. Between calls it
// holds nothing but a record of which a part has come. One thread.
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
    // The most text that so many coded bytes can be: a record may have come but for its end.
    static constexpr std::size_t text_bytes(std::size_t coded) { return coded + 32 * 1024; }

    enum class result {
        // Some text.
        text,
        // None yet.
        nothing,
        // The peer has said that it sends no more.
        closed,
        // This is no TLS, or not the peer that was meant; detail() says why.
        failed
    };

    enum class role { server, client };

    // `settings`: of which SSL_new() makes it; `keeps` lives as long as this does.
    tls_engine(SSL_CTX* settings, role r, std::shared_ptr<const void> keeps);
    ~tls_engine();
    tls_engine(const tls_engine&) = delete;
    tls_engine& operator=(const tls_engine&) = delete;

    // All the text of these coded bytes goes to the beginning of `into`, which has text_bytes() of
    // them; `count` is how much it is. What must be sent is appended to `out`, also after a
    // failure. Without bytes: a client begins.
    result receive(
        std::span<const char> coded, std::span<char> into, std::size_t& count, std::string& out
    );

    // Most text that is kept while nothing can be sent: before the end of the handshake, and while
    // a later message of that kind, such as a ticket, has come in part.
    static constexpr std::size_t most_kept = 256 * 1024;

    // Most records without text, such as updates of keys or records of no bytes, that a peer may
    // send at once after the handshake. One more is allowed after each interval; past that
    // receive() fails. Each costs as much as a request and puts no deadline forward.
    static constexpr int max_empty_records = 32;
    static constexpr base::duration empty_record_interval = std::chrono::seconds{1};

    // Text for the peer. False: nothing can be sent, nor kept.
    [[nodiscard]] bool send(std::string_view text, std::string& out);

    // Tells the peer that no more is sent, once.
    void say_end(std::string& out);

    // A client does, in receive() without bytes.
    bool speaks_first() const { return role_ == role::client; }

    // Until the handshake has ended, once and for all.
    bool shaking_hands() const { return !shaken_; }

    // Something has come, and so hands are being shaken.
    bool has_begun() const;

    // A part of a record has come, and its end has not.
    bool has_part() const;

    // Whether an earlier session went on, once hands are shaken.
    bool resumed() const;

    // The peer has said that it sends no more.
    bool peer_has_ended() const { return peer_ended_; }

    // A client's end may come without a word of TLS: it could have asked for more, and did not. Of
    // a server that may be a piece that somebody has cut off.
    bool may_end_silently() const { return role_ == role::server; }

    // The name that a client has asked for, without a dot at its end; empty: none.
    std::string_view asked_name() const;

    // Keeps the name that the first message of a client asks for, until hands are shaken: OpenSSL
    // does not know it if the handshake fails early.
    void note_asked_name(std::string name) { noted_name_ = std::move(name); }

    // Of what is sent to answer a peer that does not read, so many bytes more; returns all of them.
    std::size_t count_unread(std::size_t more) { return unread_ += more; }

    // It has read.
    void forget_unread() { unread_ = 0; }

    SSL* ssl() const { return ssl_.get(); }

    bool failed() const { return failed_; }

    // After a failure: what was wrong is the certificate that the peer has shown.
    bool distrusts_peer() const { return distrusts_peer_; }

    // After a failure: the peer has sent too many records without text.
    bool flooded() const { return flooded_; }

    // After a failure: what came first is no TLS, but text, as of a client that speaks HTTP without
    // TLS. Nothing has been sent.
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
    // The text of the last record has not come, or it has none.
    bool awaits_text_ = false;
    // The moment up to which records without text have used the time that allows them.
    base::instant empty_until_{};
    // Lent during a call.
    std::span<const char> in_;
    std::string* out_ = nullptr;
    std::size_t unread_ = 0;
    // Text that is kept.
    std::string waiting_;
    // The coded session ticket for a client that has sent text with the end of its handshake: it is
    // sent with what is sent next, which saves a segment.
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
