// One connected socket of a worker, driven by readiness: wait, then receive or send directly.
// An idle connection owns no buffer.
//
// Derive from it. Every callback comes from the loop, never from inside a call made on this object.
// Life: close() ends it; released() comes afterwards, and only there may it be destroyed.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/socket.hpp"
#include "gateway/net/tls/tls_engine.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::net {

// What came of receiving. `broken`: the peer reset the connection, or there was an error.
enum class received { data, nothing, closed, broken };

enum class sent { all, some, broken };

class connection : private watcher, private sender {
public:
    // `connected` is a non-blocking stream socket.
    connection(loop& l, socket connected);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    virtual ~connection() = default;

    // From now on what is received and sent is text, and what is on the wire is TLS. Before
    // anything is received; what was sent has gone as it is. A client's handshake begins.
    void speak_tls(std::unique_ptr<tls_engine> engine);

    // Undoes speak_tls(): text is on the wire as it is again. Requires: TLS has sent nothing.
    void speak_plain() { tls_.reset(); }

    // Null: what is on the wire is the text itself.
    const tls_engine* tls() const { return tls_.get(); }

    // Nothing can be received yet, as the handshake of TLS is not over.
    bool shaking_hands() const { return tls_ != nullptr && tls_->shaking_hands(); }

    // readable() will be called once, when there is something to receive, an end or an error.
    void want_read();

    // Into a buffer of the loop; `bytes` is what came, valid until the next receive on this thread.
    // May come up short of what is there.
    received receive(std::span<char>& bytes);

    // Takes all of `a` then `b`. While a turn's events are handled, what is small leaves at its
    // end at the latest, and counts as sent until then. What the socket does not take is kept, and
    // drained() comes when it has gone; until then do not send more than you are ready to have
    // kept. `broken`: readable() is on its way, and receiving will tell how it ended.
    sent send(std::string_view a, std::string_view b = {});

    // As send(), but what the socket takes has left when this returns.
    sent send_at_once(std::string_view a, std::string_view b = {});

    // Something is kept that the socket did not take.
    bool sending() const { return unsent_at_ < unsent_.size(); }

    // Open, and nothing has come that was not received. Asks the kernel.
    bool is_quiet() const;

    // Of TLS: what has come is no text and no end, but tickets, say. Receives it.
    bool hears_no_text();

    // Open, all that was sent has gone, and nothing is known to have come: text or an end.
    bool at_rest();

    // Closes as soon as all that was sent has gone.
    void close_when_sent();

    bool closes_when_sent() const { return closing_; }

    // What was sent and what is kept arrives, then the peer sees the end. Nothing is sent after.
    void finish_sending();
    void close();
    // Closes, and lets the peer know that something was cut off.
    void reset();

    bool closed() const { return !socket_.is_open(); }

    // True if the peer has ended its side, perhaps behind text that was not received.
    bool has_hung_up() const { return ended_; }

    // True if the connection was reset or lost: what is sent arrives nowhere.
    bool was_reset() const { return was_reset_; }

    // Asks the kernel; see ends_of().
    base::connection_ends ends(const base::ip_address& peer) const;

protected:
    virtual void readable() = 0;

    // has_hung_up() or was_reset() has become true, whether or not want_read() was called.
    virtual void hung_up() {}

    // Some of what was kept has gone, or something that counted as sent is kept after all.
    virtual void backlog_changed() {}

    // All that was kept has gone.
    virtual void drained() = 0;

    // What was kept could not be sent.
    virtual void broken() = 0;

    void released() override = 0;

private:
    loop& loop_;
    socket socket_;
    std::unique_ptr<tls_engine> tls_;
    bool wants_read_ = false;

    // An edge has come, and what it told of may not all be received.
    bool may_be_readable_ = false;
    // The end is to be sent when what is kept has gone.
    bool finishing_ = false;
    // Bytes of TLS that answer a peer which does not read: so many at most.
    static constexpr std::size_t most_unread_answers = 64 * 1024;

    // Sending has failed: then an end is no orderly one, whatever the kernel says.
    bool send_failed_ = false;

    // The outbox has something of ours.
    bool gathered_ = false;
    // The owner is still to be told that something is kept.
    bool held_back_ = false;
    // Of TLS: with what is gathered goes the word that nothing follows.
    bool says_end_ = false;
    // It closes when what is kept has gone.
    bool closing_ = false;
    // An end or an error has come: receiving will tell which.
    bool ended_ = false;
    bool was_reset_ = false;

    std::size_t unsent_at_ = 0;
    std::string unsent_;

    void ready(std::uint32_t epoll_events) override;
    void recheck() override;
    void tell_held_back();
    void flush();
    void send_gathered(std::string_view bytes) override;
    sent send_now(std::string_view a, std::string_view b);
    sent send_coded(std::string_view a, std::string_view b);
    sent send_bytes(std::string_view a, std::string_view b);
    void continue_sending();
    received receive_bytes(std::span<char>& bytes);
    received receive_text(std::span<char>& text);
    bool send_answer(std::string_view coded);
    void fail_sending();
    void say_end();
};

}  // namespace gateway::net
