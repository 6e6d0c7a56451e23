// `http2_connection` is a client's connection once HTTP/2 is spoken on it: the engine, its streams,
// and what bounds them together. Its shell (session) has the socket and the deadline.
//
// A peer that costs more than it may is told to calm down, and its connection ends:
//   resets        it has requests begun and given up (CVE-2023-44487, CVE-2025-8671)
//   idle_frames   it sends frames that do no work
// A head that is far larger than it may be ends it at once.
// Ownership: its session.
// Thread: one thread only.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/client_port.hpp"
#include "gateway/client/http2/http2_stream.hpp"
#include "gateway/client/requests/request_host.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/http2/engine.hpp"
#include "gateway/http2/frame_budget.hpp"
#include "gateway/http2/request_text.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::client {

class http2_connection final : private http2::engine_events, private base::timer_entry {
public:
    // A client may have requests decoded and kept up to this number of bytes, and ten times what it
    // has sent. More streams are refused, as one byte may stand for a field of thousands.
    static constexpr std::size_t held_bytes_at_once = 64 * 1024;
    static constexpr std::size_t held_bytes_per_byte = 10;
    // Longest wait for the answer to a PING that says whether requests are on their way.
    static constexpr base::duration longest_round_trip = std::chrono::milliseconds{500};

    // `client` is the connection; `host` is what requests see of it.
    // Ownership: all arguments outlive this object.
    http2_connection(session_environment& env, client_port& client, request_host& host);
    ~http2_connection() override;

    // ---- Events of the shell.
    void client_bytes(std::span<const char> bytes);
    // Called when no more bytes will come.
    void client_closed();
    void client_drained();
    // Called when the timeout that waits_for() names has passed.
    void expired();
    // Finishes what runs, then closes.
    void drain();
    void abort();
    // Sends what is due, and gives up what is over. Called after each event, also of a stream.
    void settle();

    // Returns what the connection as a whole waits for. Streams have deadlines of their own.
    timeout waits_for() const;

    bool is_active() const { return !streams_.empty(); }

    // ---- Calls of streams.
    request_host& host() { return host_; }

    http2::engine& engine() { return engine_; }

    // The head that is being read; only one can be at a time.
    http2::request_text& head() { return head_; }

    // True if nothing should be sent now.
    bool is_blocked() const override { return client_.client_blocked(); }

    // True if frames may be sent at once, as no event of the engine is under way.
    bool may_send() const { return !receiving_; }

    // Has the stream looked after at the end of this event.
    void touch(http2_stream& s);
    void request_came();
    // Counts a stream that ended before its time, through the client.
    void stream_reset();

    void content_sent() { budget_.content_sent(); }

private:
    session_environment& env_;
    client_port& client_;
    request_host& host_;
    http2::engine engine_;
    http2::frame_budget budget_;
    http2::request_text head_;
    std::vector<std::unique_ptr<http2_stream>> streams_;
    // Streams that are to be looked after, and those that just are.
    std::vector<http2_stream*> touched_;
    std::vector<http2_stream*> looked_after_;
    std::uint64_t received_bytes_ = 0;
    std::uint64_t requests_ = 0;
    bool receiving_ = false;
    bool draining_ = false;
    // True if the client is to learn its last stream when the bytes at hand have been taken.
    bool last_stream_due_ = false;
    // True if the client's last stream is settled: later ones are refused.
    bool last_stream_named_ = false;
    bool ended_ = false;
    // True if the client was told to calm down.
    bool calmed_ = false;

    void look_after_touched();
    void give_back(http2_stream& s);
    void count_closed(telemetry::counter& why, std::string_view what);
    void calm_down(telemetry::counter& why, std::string_view what);
    void leave_all();
    void name_last_stream();

    // http2::engine_events
    http2::stream_events* stream_opened(http2::stream_id id) override;
    void idle_frame(std::size_t cost) override;

    void stream_refused() override { stream_reset(); }

    void ponged() override { last_stream_due_ = draining_; }

    void send_bytes(std::string_view a, std::string_view b) override { client_.send_client(a, b); }

    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::client
