// `connection` is one connected socket of a worker. It is driven by readiness: its owner waits,
// then receives or sends directly. An idle connection owns no buffer.
//
// Derive from it. Every callback comes from the loop, never from inside a call made on this object.
// Ownership: close() ends the connection; it may be destroyed only in released(), which comes
// afterwards.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/socket.hpp"
#include "gateway/net/tls/tls_engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::net {

// Result of receiving. `broken` means that the peer reset the connection, or that there was an
// error.
enum class received { data, nothing, closed, broken };

// Result of sending. `some` means that the socket did not take everything, and that the rest is
// kept.
enum class sent { all, some, broken };

class connection : private watcher, private sender {
public:
    // Requires: `connected` is a non-blocking stream socket.
    connection(loop& l, socket connected);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    virtual ~connection() = default;

    // Encrypts the connection from now on: the caller receives and sends text, and TLS is on the
    // wire. Bytes that were sent before go out as they are. A client begins its handshake.
    // Requires: nothing has been received.
    void speak_tls(std::unique_ptr<tls_engine> engine);

    // Undoes speak_tls(), so that text is on the wire again.
    // Requires: TLS has sent nothing.
    void speak_plain() { tls_.reset(); }

    // Returns the TLS engine, or null if the text itself is on the wire.
    const tls_engine* tls() const { return tls_.get(); }

    // True while nothing can be received because the TLS handshake is not over.
    bool shaking_hands() const { return tls_ != nullptr && tls_->shaking_hands(); }

    // Has readable() called once, when there is something to receive, an end or an error.
    void want_read();

    // Receives into a buffer of the loop and points `bytes` at the result, which is valid until the
    // next receive on this thread. May return less than what is there. Takes at most `most` bytes
    // from the socket.
    received receive(std::span<char>& bytes, std::size_t most = SIZE_MAX);

    // Takes all of `a`, then `b`. Small sends are gathered while a turn's events are handled: they
    // leave at its end at the latest, and count as sent until then. Bytes that the socket does not
    // take are kept, and drained() follows when they have gone; until then do not send more than
    // you are ready to have kept. After `broken`, readable() follows, and receiving reports how the
    // connection ended.
    sent send(std::string_view a, std::string_view b = {});

    // Sends as send() does, but the socket has got all that it takes when this returns.
    sent send_at_once(std::string_view a, std::string_view b = {});

    // True if bytes are kept that the socket did not take.
    bool sending() const { return unsent_at_ < unsent_.size(); }

    // True if the connection is open and nothing unreceived has come. Asks the kernel.
    bool is_quiet() const;

    // Receives what has come, and returns true if it is neither text nor an end but, for instance,
    // session tickets.
    // Requires: TLS.
    bool hears_no_text();

    // True if the connection is open, all that was sent has gone, and neither text nor an end is
    // known to have come.
    bool at_rest();

    // Closes the connection as soon as all that was sent has gone.
    void close_when_sent();

    bool closes_when_sent() const { return closing_; }

    // Ends the sending side: the peer gets all that was sent or kept, then the end. Nothing may be
    // sent after.
    void finish_sending();
    void close();
    // Closes the connection with a reset, by which the peer learns that something was cut off.
    void reset();

    bool closed() const { return !socket_.is_open(); }

    // True if the peer has ended its side, perhaps behind text that was not received.
    bool has_hung_up() const { return ended_; }

    // True if the connection was reset or lost, so that nothing sent arrives any more.
    bool was_reset() const { return was_reset_; }

    // Returns both ends of an accepted connection; asks the kernel. The client's address is `peer`;
    // its port is 0 if it has already left. The local end of a Unix socket, which has no address,
    // counts as the loopback address.
    base::connection_ends ends(const base::ip_address& peer) const;

protected:
    virtual void readable() = 0;

    // Called when has_hung_up() or was_reset() has become true, whether or not want_read() was
    // called.
    virtual void hung_up() {}

    // Called when some of the kept bytes have gone, or when bytes that counted as sent are kept
    // after all.
    virtual void backlog_changed() {}

    // Called when all kept bytes have gone.
    virtual void drained() = 0;

    // Called when kept bytes could not be sent.
    virtual void broken() = 0;

    void released() override = 0;

private:
    loop& loop_;
    socket socket_;
    std::unique_ptr<tls_engine> tls_;
    bool wants_read_ = false;

    // True if an epoll edge has come and not everything it reported may have been received.
    bool may_be_readable_ = false;
    // True if the end is to be sent when all kept bytes have gone.
    bool finishing_ = false;
    // Most bytes of TLS's own answers that are kept for a peer that does not read.
    static constexpr std::size_t most_unread_answers = 64 * 1024;

    // True if sending has failed; an end is then no orderly one, whatever the kernel says.
    bool send_failed_ = false;

    // True if the outbox holds bytes of this connection.
    bool gathered_ = false;
    // True if the owner has yet to learn that bytes are kept.
    bool held_back_ = false;
    // True if close_notify follows the gathered bytes.
    bool close_notify_due_ = false;
    // True if the connection is to close when all kept bytes have gone.
    bool closing_ = false;
    // True if an end or an error has come; receiving reports which.
    bool ended_ = false;
    bool was_reset_ = false;

    std::size_t unsent_at_ = 0;
    std::string unsent_;

    void ready(std::uint32_t epoll_events) override;
    void recheck() override;
    void report_held_back();
    void flush();
    void send_gathered(std::string_view bytes) override;
    sent send_now(std::string_view a, std::string_view b);
    sent send_coded(std::string_view a, std::string_view b);
    sent send_bytes(std::string_view a, std::string_view b);
    void continue_sending();
    received receive_bytes(std::span<char>& bytes, std::size_t most);
    received receive_text(std::span<char>& text, std::size_t most);
    bool send_answer(std::string_view coded);
    void fail_sending();
    void send_close_notify();
};

}  // namespace gateway::net
