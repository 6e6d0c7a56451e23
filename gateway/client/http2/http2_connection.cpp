#include "gateway/client/http2/http2_connection.hpp"

#include "gateway/client/bounded_log.hpp"
#include "gateway/client/carrier_pool.hpp"

#include <algorithm>
#include <utility>

namespace gateway::client {

http2_connection::http2_connection(
    session_environment& env, client_port& client, request_host& host
)
    : env_(env),
      client_(client),
      host_(host),
      engine_(
          http2::engine::role::server,
          env.view->http2,
          env.view->http.max_header_bytes,
          *this,
          env.scratch.out
      ),
      budget_(env.loop.now())
{
    if (const base::duration age = env.view->http2.max_connection_age; age.count() > 0) {
        env_.loop.wheel().arm(*this, env_.loop.now() + age);
    }
}

http2_connection::~http2_connection()
{
    for (auto& s : streams_) {
        env_.spare_streams.take_back(std::move(s));
    }
}

// ---- events of the shell ---------------------------------------------------------------------

void http2_connection::client_bytes(std::span<const char> bytes)
{
    if (ended_) {
        return;
    }
    received_bytes_ += bytes.size();
    receiving_ = true;
    const http2::engine::failure failed = engine_.receive(bytes);
    receiving_ = false;
    if (failed == http2::engine::failure::flooded) {
        count_closed(env_.metrics.http2_idle_frames, "too many frames did no work");
    } else if (failed == http2::engine::failure::large_head) {
        count_closed(env_.metrics.http2_large_heads, "a head was far too large");
    }
    if (failed != http2::engine::failure::none) {
        client_closed();
    }
}

void http2_connection::client_closed()
{
    leave_all();
    ended_ = true;
}

void http2_connection::leave_all()
{
    for (const auto& s : streams_) {
        s->client_left();
        touch(*s);
    }
}

void http2_connection::client_drained()
{
    for (const auto& s : streams_) {
        s->drained();
        touch(*s);
    }
}

void http2_connection::abort()
{
    for (const auto& s : streams_) {
        s->abort();
        touch(*s);
    }
    ended_ = true;
}

// Ends a connection that is idle, or on which the end of a head does not come.
void http2_connection::expired()
{
    engine_.end_now(http2::error_code::no_error);
}

// Looks after streams until none asks for it: one may have something to send at the very end.
void http2_connection::settle()
{
    do {
        for (std::size_t i = 0; i < touched_.size(); ++i) {
            touched_[i]->take_up();
        }
        if (!ended_) {
            name_last_stream();
            engine_.send_frames();
            ended_ = engine_.is_over();
            if (ended_) {
                leave_all();
            }
        }
        look_after_touched();
    } while (!touched_.empty());
    if (!engine_.awaits_fields()) {
        head_.release_memory();
    }
    if (ended_) {
        client_.close_client(false);
    }
}

void http2_connection::look_after_touched()
{
    looked_after_.swap(touched_);
    for (http2_stream* const s : looked_after_) {
        s->is_touched = false;
        if (s->is_over()) {
            give_back(*s);
        } else {
            s->arrange();
        }
    }
    looked_after_.clear();
}

void http2_connection::give_back(http2_stream& s)
{
    const std::size_t at = s.index;
    env_.spare_streams.take_back(std::move(streams_[at]));
    if (at + 1 != streams_.size()) {
        streams_[at] = std::move(streams_.back());
        streams_[at]->index = at;
    }
    streams_.pop_back();
}

timeout http2_connection::waits_for() const
{
    if (client_.client_blocked()) {
        return timeout::body;
    }
    if (engine_.awaits_fields()) {
        return timeout::head;
    }
    return streams_.empty() ? timeout::idle : timeout::none;
}

// ---- streams ---------------------------------------------------------------------------------

void http2_connection::touch(http2_stream& s)
{
    if (!std::exchange(s.is_touched, true)) {
        touched_.push_back(&s);
    }
}

http2::stream_events* http2_connection::stream_opened(http2::stream_id id)
{
    std::size_t held = 0;
    for (const auto& s : streams_) {
        held += s->held_bytes();
    }
    const bool too_many = held > held_bytes_at_once + held_bytes_per_byte * received_bytes_;
    // The GOAWAY may still wait for a client that does not read, and says that it is not processed.
    if (too_many || last_stream_named_) {
        stream_reset();
        return nullptr;
    }
    head_.clear();
    std::unique_ptr<http2_stream> s = env_.spare_streams.borrow(env_);
    s->index = streams_.size();
    s->begin(*this, id);
    touch(*s);
    streams_.push_back(std::move(s));
    return streams_.back().get();
}

void http2_connection::request_came()
{
    budget_.request_came();
    const std::uint64_t most = env_.view->http2.max_requests;
    if (++requests_ >= most && most != 0) {
        drain();
    }
}

// ---- bounds ----------------------------------------------------------------------------------

void http2_connection::stream_reset()
{
    if (!ended_ && !budget_.take_reset(env_.loop.now())) {
        calm_down(env_.metrics.http2_resets, "too many streams were reset");
    }
}

void http2_connection::idle_frame(std::size_t cost)
{
    if (!budget_.take_idle_frame(env_.loop.now(), cost)) {
        calm_down(env_.metrics.http2_idle_frames, "too many frames did no work");
    }
}

void http2_connection::calm_down(telemetry::counter& why, std::string_view what)
{
    if (!std::exchange(calmed_, true)) {
        count_closed(why, what);
        engine_.end_now(http2::error_code::enhance_your_calm);
    }
}

void http2_connection::count_closed(telemetry::counter& why, std::string_view what)
{
    why.add();
    log_closed_connection(host_.peer(), what, env_.loop.now());
}

// ---- the end ---------------------------------------------------------------------------------

// Tells the client twice, a round trip apart: requests that are on their way are served (RFC 9113
// §6.8).
void http2_connection::drain()
{
    if (!std::exchange(draining_, true)) {
        engine_.announce_end();
        engine_.ping();
        env_.loop.wheel().arm(*this, env_.loop.now() + longest_round_trip);
    }
}

// Tells the client its last stream, between reads only: a stream that came in the same read as the
// answer to the PING is served, and the GOAWAY must not deny that.
void http2_connection::name_last_stream()
{
    if (last_stream_due_ && !std::exchange(last_stream_named_, true)) {
        engine_.end_after_streams();
    }
}

void http2_connection::expired(base::instant)
{
    if (draining_) {
        last_stream_due_ = true;
    } else {
        drain();  // The connection is old enough.
    }
    host_.after_event(false);
}

}  // namespace gateway::client
