// `upstream_stream` carries one request over HTTP/2: a stream of a connection that several requests
// share. It gives the response as the text that HTTP/1.1 would carry.
//
// Content that the lessee does not take stays here, within the stream's window; that of the
// connection is opened at once, so that no stream stalls another.
// Ownership: its connection, which uses it for one request after another.
// Thread: one thread only.
#pragma once

#include "gateway/http2/engine.hpp"
#include "gateway/http2/outgoing_content.hpp"
#include "gateway/proxy/upstream_carrier.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::proxy {

class multiplexed_connection;

class upstream_stream final : public upstream_carrier, public http2::stream_events {
public:
    upstream_stream(multiplexed_connection& of, const server_endpoint& to)
        : upstream_carrier(to), connection_(of)
    {}

    ~upstream_stream() override = default;

    // Prepares for a request. `reused`: the connection has served one before.
    void begin(bool reused);
    // Frees memory, when a request is over.
    void release_memory();

    // ---- Events of the connection. Calls of the lessee come from take_up() only.
    // Tells the lessee what has come, and that what waited has gone. Called after each event.
    void take_up();
    // Called when the connection has become blocked, or less so.
    void backlog_changed();

    // Called when the connection has ended.
    void lost(loss why) { close(http2::error_code::internal_error, why); }

    http2::stream_id id() const { return id_; }

    // True if it may serve another request.
    bool is_free() const { return lessee_ == nullptr && (closed_ || id_ == 0); }

    // upstream_carrier
    bool reused() const override { return reused_; }

    void send_head(std::string_view text, const http::framing& body, bool at_once) override;
    void send_content(std::string_view content, bool last, std::string_view trailers) override;

    // Is never called, as no tunnel is carried.
    void send_bytes(std::string_view) override {}

    // Cancels the request: the server is told that nobody waits.
    void end_sending() override;
    bool is_blocked() const override;

    // A reset is never answered.
    bool tells_of_its_end() const override { return false; }

    void await_bytes() override;

    std::optional<std::uint64_t> announced_length() const override { return announced_length_; }

    net::received receive_text(std::span<char>& text, std::size_t most) override;

    loss why_lost() const override { return loss_; }

    std::string_view complaint() const override { return complaint_; }

    void give_back(answer_port::disposition how, bool is_current) override;

    // http2::stream_events
    void field(std::string_view name, std::string_view value) override;
    void fields_ended(bool last) override;
    void content(std::string_view bytes) override;
    void content_ended() override;

    void reset_came() override { server_has_reset_ = true; }

    void stream_closed(http2::error_code why) override;

    std::string_view pending() const override { return outgoing_.pending(); }

    bool is_last_pending() const override { return outgoing_.is_ended(); }

    std::string_view trailers() const override { return outgoing_.trailers(); }

    void content_sent(std::size_t bytes) override;

    // Its position among the streams of the connection.
    std::size_t index = 0;
    // True if the connection has to look after it at the end of this event.
    bool is_touched = false;

private:
    multiplexed_connection& connection_;
    // 0 until the head is sent.
    http2::stream_id id_ = 0;
    bool reused_ = false;
    bool to_head_request_ = false;
    // True if the lessee awaits bytes.
    bool awaited_ = false;
    // True if the lessee knows that what it sent waits.
    bool was_blocked_ = false;
    // True if a part of what waited has gone.
    bool moved_ = false;
    // True if the final head of the response has come.
    bool begun_ = false;
    bool is_chunked_ = false;
    bool server_has_reset_ = false;
    loss loss_ = loss::ended;
    std::optional<std::uint64_t> announced_length_;
    // The reason why the stream is closed.
    std::optional<http2::error_code> closed_;
    std::string complaint_;
    http2::outgoing_content outgoing_;
    // Text that has come, from inbox_at_ on, and the bytes of content that nobody has taken. Text
    // before inbox_at_ was received last.
    std::string inbox_;
    std::size_t inbox_at_ = 0;
    std::size_t unconsumed_ = 0;

    bool has_news() const { return inbox_at_ < inbox_.size() || closed_; }

    void touch();
    void forget_received();
    void reset();
    void close(http2::error_code why, loss is);
};

}  // namespace gateway::proxy
