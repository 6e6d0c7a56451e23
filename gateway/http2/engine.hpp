// `engine` is the HTTP/2 of one connection (RFC 9113), by nghttp2: frames, HPACK, windows, and the
// rules that the protocol has for messages. It is a sans-I/O machine. Bytes of the peer go in;
// frames come out where engine_events says, and what the peer says goes to the events of the
// connection and of its streams. Those may submit whatever they like, and must not call receive()
// or send_frames().
//
// Windows are opened only as far as consume() says, so that a peer sends no faster than somebody
// takes its bytes.
// Thread: one thread only.
#pragma once

#include "gateway/http2/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct nghttp2_session;

namespace gateway::http2 {

using stream_id = std::int32_t;

// Codes of errors that the gateway sends (RFC 9113 §7).
enum class error_code : std::uint32_t {
    no_error = 0x0,
    protocol_error = 0x1,
    internal_error = 0x2,
    refused_stream = 0x7,
    cancel = 0x8,
    enhance_your_calm = 0xb,
};

// `stream_events` is told what the peer sends on a stream, and says what is sent to it.
class stream_events {
public:
    // Takes a field of a head, or of trailers if content may have come before. The name is in lower
    // case. Both texts are valid during the call.
    virtual void field(std::string_view name, std::string_view value) = 0;
    // Called at the end of a head or of trailers. `last`: nothing follows.
    virtual void fields_ended(bool last) = 0;
    // Takes content, which must be consumed some time.
    virtual void content(std::string_view bytes) = 0;
    virtual void content_ended() = 0;

    // Called when the peer has reset the stream, which is then closed.
    virtual void reset_came() {}

    // Called when the stream is closed: by both ends in order (no_error), or by a reset. Nothing
    // follows.
    virtual void stream_closed(error_code why) = 0;

    // Returns the content that is to be sent next, valid until content_sent() is called.
    virtual std::string_view pending() const = 0;
    // True if nothing follows what is pending but trailers.
    virtual bool is_last_pending() const = 0;
    // Returns the trailers: lines "name: value\r\n", or nothing. They are sent last.
    virtual std::string_view trailers() const = 0;
    virtual void content_sent(std::size_t bytes) = 0;

protected:
    ~stream_events() = default;
};

class engine_events {
public:
    // Called when a client opens a stream. Returns where its events go, or null to refuse it.
    virtual stream_events* stream_opened(stream_id) { return nullptr; }

    // Called for a request that was not sent, as the server has said GOAWAY meanwhile.
    virtual void request_not_sent(stream_id) {}

    // Called for a frame that is no part of a message, or empty. `cost` is 1, or more for one with
    // fields that must be decoded and are dropped.
    virtual void idle_frame(std::size_t /*cost*/) {}

    // Called for each stream of a client that was refused, as it was one too many.
    virtual void stream_refused() {}

    // Called when a server has said what it allows.
    virtual void settings_came() {}

    // Called when the peer has answered ping().
    virtual void ponged() {}

    // Takes bytes for the peer.
    virtual void send_bytes(std::string_view a, std::string_view b) = 0;
    // True if no more should be sent now.
    virtual bool is_blocked() const = 0;

protected:
    ~engine_events() = default;
};

class engine {
public:
    enum class role { server, client };

    // Begins one side of a connection: its preface is the first to be sent. `bounds.max_streams` is
    // for clients. `max_header_bytes` is told to the peer, which may ignore it. `out` is memory for
    // frames under construction, which is empty between events.
    // Ownership: `events` and `out` outlive this object.
    engine(
        role side,
        const options& bounds,
        std::size_t max_header_bytes,
        engine_events& events,
        std::string& out
    );
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    // The reason for which nothing more can be read of a connection.
    enum class failure {
        none,
        // The bytes are no HTTP/2.
        malformed,
        // Too many answers wait for a peer that does not read, or a head has too many pieces.
        flooded,
        // A head is so much larger than its bound that decoding the rest would cost too much.
        large_head,
    };

    // Takes bytes of the peer. Nothing can be answered after a failure.
    failure receive(std::span<const char> bytes);

    // Sends what is due, until the events say that they are blocked.
    void send_frames();

    // True if the connection is over, when what is due has been sent.
    bool is_over() const;

    // True if a head has begun whose end has not come.
    bool awaits_fields() const { return fields_of_ != 0; }

    // Returns what was wrong with the peer's last error, in the library's words; empty if nothing
    // was.
    const std::string& complaint() const { return complaint_; }

    // ---- A client's requests.

    // True until the server has said GOAWAY, or streams have run out.
    bool accepts_requests() const;
    // Returns the most streams that the server allows at a time.
    std::size_t most_requests() const;

    // Opens a stream with the head of a request of HTTP/1.1, which may be changed. `scheme`: http
    // or https. `last`: no content follows. Returns 0 if there can be no further stream.
    stream_id request(
        std::span<char> head, std::string_view scheme, bool last, stream_events& from
    );

    // ---- What a stream sends. A text of fields has lines "name: value\r\n", and may be changed:
    // names become lower case, and fields about a connection are left out.

    // Sends the head of a response. `last`: no content follows.
    void respond(stream_id id, int status, std::span<char> fields, bool last, stream_events& from);
    void respond_interim(stream_id id, int status, std::span<char> fields);
    // Sends what has become pending.
    void resume(stream_id id);
    void reset(stream_id id, error_code why);
    // Returns the bytes of content that the peer takes on the stream now.
    std::size_t window(stream_id id) const;

    // ---- What the peer may send.

    // Opens the windows by bytes of content that were taken.
    void consume(stream_id id, std::size_t bytes);
    // Opens that of the connection, or of the stream, only.
    void consume_connection(std::size_t bytes);
    void consume_stream(stream_id id, std::size_t bytes);

    // ---- The end of the connection.

    // Tells the peer that no further stream will be served, which may be on its way.
    void announce_end();
    // Asks for ponged().
    void ping();
    // Tells the peer which stream was the last. Those that are open go on.
    // Requires: receive() is not under way. Streams that open before the frame has been sent must
    // be refused.
    void end_after_streams();
    // Tells the peer why the connection ends now.
    void end_now(error_code why);

private:
    struct freer {
        void operator()(nghttp2_session* of) const;
    };

    engine_events& events_;
    std::string& out_;
    std::unique_ptr<nghttp2_session, freer> session_;
    // The stream whose head or trailers have come in part; 0: there is none.
    stream_id fields_of_ = 0;
    // Most bytes of fields that are decoded of one head, and those that have been.
    const std::size_t most_decoded_bytes_;
    std::size_t decoded_bytes_ = 0;
    std::string complaint_;

    void submit_settings(role side, const options& bounds, std::size_t max_header_bytes);
    void flush(std::string_view content = {});

    friend struct engine_callbacks;
};

}  // namespace gateway::http2
