// An `answer_state` reads an upstream's response to one request: interim heads, the head, the body;
// and it knows whether the connection may serve again. It is a sans-I/O machine that owns no port,
// so that an exchange can hand it over while the response is still to come.
#pragma once

#include "gateway/http/body_reader.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/partial_head.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/reply_port.hpp"

#include <span>

namespace gateway::proxy {

// How far an exchange goes on without its client.
enum class abandon_until : std::uint8_t {
    // Until the server has answered or has ended its side. It is told that nobody waits.
    answered,
    // To the end of the response, which is dropped.
    finished,
};

// The connection on which an answer comes. Calls never come back into the machine.
class answer_port {
public:
    // How a connection is given back. keep: it serves another request; reset: the
    // server is told that nobody listens, should it still send.
    enum class disposition { keep, close, reset };

    // Closes the sending side towards the upstream (half-close).
    virtual void end_sending_upstream() = 0;
    virtual void release(disposition how) = 0;

    // The head of the final response has come, or of a granted WebSocket; fields that are not for
    // the client may be taken out of it.
    virtual void responded(http::response_head& head) = 0;
    // The same of an interim one.
    virtual void interim_responded(http::response_head& head) = 0;
    // No (further) response. `begun`: its head had come. After the connection was given away.
    virtual void failed(failure why, bool begun) = 0;

    // The head that responses are read into; shared by all exchanges of a thread.
    virtual http::response_head& response_head_storage() = 0;

    // The options of this exchange.
    virtual const http::options& limits() const = 0;
    virtual const upstream_options& upstream() const = 0;

protected:
    ~answer_port() = default;
};

class answer_state {
public:
    enum class progress : std::uint8_t {
        // More must come.
        incomplete,
        complete,
        // The WebSocket that was asked for is granted, by the head in response_head_storage().
        switched,
        malformed,
    };

    // Requires: nothing of an earlier answer is wanted any more.
    void begin(const http::request_head& request);

    // Begins again, on another connection.
    void begin_anew();

    // Passes on what is read; `bytes` then begins behind it. Requires: the answer is incomplete.
    progress read(std::span<char>& bytes, answer_port& port, reply_port& reply);

    // The connection has ended in order: returns true if that completes the answer.
    bool ends_here();

    // What becomes of the connection after a complete answer, behind which `surplus` bytes came.
    answer_port::disposition disposition_after(std::size_t surplus) const;

    void release_memory() { partial_head_.release_memory(); }

    // Some byte has come on this connection.
    bool any_byte() const { return any_byte_; }

    // The head has come.
    bool begun() const { return begun_; }

    // 0: there is none yet.
    int status() const { return status_; }

    // Number of bytes of content that were passed on.
    std::uint64_t bytes() const { return bytes_; }

private:
    bool to_head_request_ = false;
    // The request asks for a WebSocket.
    bool may_switch_ = false;
    bool any_byte_ = false;
    bool begun_ = false;
    bool keep_alive_ = false;
    bool content_may_follow_ = false;
    std::uint32_t interim_count_ = 0;
    int status_ = 0;
    std::uint64_t bytes_ = 0;
    http::body_reader body_;
    // A head, while it comes in pieces.
    http::partial_head partial_head_;

    progress read_head(std::span<char>& bytes, answer_port& port, reply_port& reply);
    void take(http::response_head& head, answer_port& port, reply_port& reply);
    progress read_body(std::span<char>& bytes, reply_port& reply);
};

}  // namespace gateway::proxy
