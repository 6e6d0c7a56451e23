// `multiplexed_connection` is an HTTP/2 connection to a server of an upstream, which requests
// share: the client's side of the engine, its streams, and what finds out that the server is gone.
//
//   greeting -> open -> retired -> ended    no further stream is opened; those that are open go on
//           \-------\-----------> ended    it was idle for too long, or it is lost
//
// No stream is opened before the server's SETTINGS have come, as it might refuse those that it does
// not allow.
//
// A server that is silent although requests wait is asked by PING (silence_state).
//
// Ownership: shared_connections.
// Thread: one thread only.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/http2/engine.hpp"
#include "gateway/http2/response_text.hpp"
#include "gateway/net/poller.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/silence_state.hpp"
#include "gateway/proxy/stream_set.hpp"
#include "gateway/proxy/upstream_connection.hpp"
#include "gateway/proxy/upstream_stream.hpp"

#include <list>
#include <span>
#include <string>
#include <string_view>

namespace gateway::proxy {

class multiplexed_connection;

// Memory that the connections of a thread use in turn.
struct borrowed_texts {
    // Frames under construction.
    std::string frames;
    // The head of a request that is being sent.
    std::string request;
};

// `multiplexed_owner` keeps the connections.
class multiplexed_owner {
public:
    // Called when the server has said how many requests it allows.
    virtual void connection_ready(multiplexed_connection& c) = 0;
    // Called when the connection has ended before that.
    virtual void connection_failed(
        multiplexed_connection& c, failure why, std::string_view complaint
    ) = 0;
    // Called when a request has ended, so that there is room for another.
    virtual void connection_has_room(multiplexed_connection& c) = 0;
    // Called when the last request has ended, and when one begins again. Returns false if the
    // connection is one idle one too many.
    virtual bool became_idle(multiplexed_connection& c) = 0;
    virtual void became_active(multiplexed_connection& c) = 0;
    // Called when the connection may be destroyed.
    virtual void connection_released(multiplexed_connection& c) = 0;

protected:
    ~multiplexed_owner() = default;
};

class multiplexed_connection final : private lessee,
                                     private http2::engine_events,
                                     private net::watcher,
                                     private base::timer_entry {
public:
    // `c` is the connection, which it leases for good.
    // Ownership: all arguments outlive this object, but for `c`, which it gives back.
    multiplexed_connection(
        net::loop& l,
        upstream_connection& c,
        multiplexed_owner& owner,
        const upstream_options& options,
        borrowed_texts& memory
    );

    // Begins to speak. `early`: what the server has sent already.
    void start(std::span<const char> early);

    // True once the server has said how many requests it allows.
    bool is_ready() const { return ready_; }

    // True if it is open and carries no request.
    bool is_idle() const { return idle_; }

    // Returns the most requests that it carries at a time.
    std::size_t most_requests() const;

    // Opens a stream for a request, or returns null if there can be none now.
    upstream_stream* open();

    // Opens no further stream, and ends with the last one.
    void retire();
    // Breaks off what is open, and ends.
    void close();

    // Returns the connection, or null if that has ended.
    const upstream_connection* connection() const { return connection_; }

    // Its position in its owner's list.
    std::list<multiplexed_connection>::iterator self;

    // ---- Calls of streams.
    http2::stream_id request(std::string_view head, bool last, upstream_stream& from);
    void send(http2::outgoing_content& by, std::string_view content, http2::stream_id id);
    void reset(http2::stream_id id);
    void consume(http2::stream_id id, std::size_t bytes);
    // Opens the connection's window by content that a stream has got.
    void content_came(std::size_t bytes);
    void given_back(bool is_current);
    // True if that much text of interim responses may wait for a lessee. `is_awaited`: it is about
    // to take it.
    bool may_wait(std::size_t interim_bytes, bool is_awaited) const;

    bool is_blocked() const override { return connection_ != nullptr && connection_->sending(); }

    // Has the stream looked after at the end of this event.
    void touch(upstream_stream& s) { streams_.touch(s); }

    // Called when a part of a message came.
    void heard_message() { silence_.heard_message(); }

    // Has touched streams looked after soon, as no event may be under way.
    void look_after_soon();

    // Returns the head or the trailers of this stream that are being read; only one can be at a
    // time.
    http2::response_text& head_of(http2::stream_id id);

    void forget_head();

    // Returns a sentence for the log about a stream that was closed for this reason.
    std::string complaint(http2::error_code why) const;

private:
    net::loop& loop_;
    upstream_connection* connection_;
    multiplexed_owner& owner_;
    const upstream_options& options_;
    borrowed_texts& memory_;
    http2::engine engine_;
    http2::response_text head_;
    // The stream whose fields are in head_; 0: there is none.
    http2::stream_id head_of_ = 0;
    stream_set streams_;
    bool reused_ = false;
    bool ready_ = false;
    // True if its owner knows that it is ready, or never will be.
    bool announced_ = false;
    bool idle_ = false;
    bool retired_ = false;
    // True once the connection was given back.
    bool ended_ = false;
    bool released_ = false;
    bool in_event_ = false;
    // True while the engine receives, so that nothing may be sent.
    bool receiving_ = false;
    bool again_ = false;
    // The reason why the connection was given up.
    std::string lost_because_;
    bool lost_in_tls_ = false;
    silence_state silence_;

    void receive(std::span<const char> bytes);
    void settle();
    void announce();
    std::string complaint_or(std::string_view otherwise) const;
    void lose(std::string_view why, loss is = loss::ended);
    void set_idle(bool idle);
    void end();
    void arm();

    // lessee
    void upstream_readable() override;
    void upstream_backlog_changed() override;
    void upstream_drained() override;
    void upstream_broken() override;

    // http2::engine_events
    void settings_came() override { ready_ = true; }

    void request_not_sent(http2::stream_id id) override;

    void send_bytes(std::string_view a, std::string_view b) override { connection_->send(a, b); }

    // net::watcher
    void ready(std::uint32_t) override {}

    void recheck() override;

    void released() override { owner_.connection_released(*this); }

    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::proxy
