// `answer_state` reads an upstream's response to one request (interim heads, the head, the body),
// and knows whether the connection may serve again. It is a sans-I/O machine that owns no port, so
// that an exchange can hand it over while the response is still to come.
#pragma once

#include "gateway/http/input/body_reader.hpp"
#include "gateway/http/input/partial_head.hpp"
#include "gateway/http/message.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/reply_port.hpp"

#include <span>

namespace gateway::proxy {

// The point up to which an exchange goes on without its client.
enum class abandon_until : std::uint8_t {
    // The server has answered or has ended its side. It is told that nobody waits.
    answered,
    // The response has ended. It is read and dropped.
    finished,
};

// `answer_port` is a response's connection. Calls never come back into the machine.
class answer_port {
public:
    // The way in which a connection is given back. keep: it serves another request. reset: the
    // server is told that nobody listens, should it still send.
    enum class disposition { keep, close, reset };

    // Closes the sending side towards the upstream (half-close).
    virtual void end_sending_upstream() = 0;
    virtual void release(disposition how) = 0;

    // Called with the head of the final response, or of a granted WebSocket. May take out fields
    // that are not for the client.
    virtual void responded(http::response_head& head) = 0;

    // True if content_came() is to be called.
    // Requires: responded() has been called.
    virtual bool reads_content() const { return false; }

    // Called with each piece of the final response's content, before it is passed on.
    virtual void content_came(std::string_view /*content*/) {}

    // Called with the head of an interim response. It may take out fields, too.
    virtual void interim_responded(http::response_head& head) = 0;
    // Reports that no (further) response comes, after the connection was given away. `begun` is
    // true if the response's head had come.
    virtual void failed(failure why, bool begun) = 0;

    // Returns the head that responses are read into, which all exchanges of a thread share.
    virtual http::response_head& response_head_storage() = 0;

    // Returns the HTTP options of this exchange.
    virtual const http::options& limits() const = 0;
    virtual const upstream_options& upstream() const = 0;

protected:
    ~answer_port() = default;
};

class answer_state {
public:
    enum class progress : std::uint8_t {
        // More bytes must come.
        incomplete,
        complete,
        // The requested WebSocket is granted, by the head in response_head_storage().
        switched,
        malformed,
    };

    // Prepares for the response to `request`.
    // Requires: nothing of an earlier response is needed any more.
    void begin(const http::request_head& request);

    // Starts over on another connection, for the same request.
    void begin_anew();

    // Passes on what it reads. `bytes` then begins behind that.
    // Requires: the response is incomplete.
    progress read(std::span<char>& bytes, answer_port& port, reply_port& reply);

    // Takes the orderly end of the connection. Returns true if that completes the response.
    bool ends_here();

    // Returns what becomes of the connection after a complete response and `surplus` bytes more.
    answer_port::disposition disposition_after(std::size_t surplus) const;

    // Returns the response's trailer section as it came, checked; empty for none, or if none of it
    // may pass.
    // Requires: the bytes of the last read() are still there.
    std::string_view trailers() const { return trailers_; }

    void release_memory()
    {
        trailers_ = {};
        body_.release_memory();
        partial_head_.release_memory();
    }

    // True if the request asks for a WebSocket.
    bool may_switch() const { return may_switch_; }

    // True if some byte has come on this connection.
    bool any_byte() const { return any_byte_; }

    // True if the head has come.
    bool begun() const { return begun_; }

    // Status of the response, or 0 while there is none.
    int status() const { return status_; }

    // Number of bytes of content that were passed on.
    std::uint64_t bytes() const { return bytes_; }

private:
    bool to_head_request_ = false;
    // True if the request asks for a WebSocket.
    bool may_switch_ = false;
    bool any_byte_ = false;
    bool begun_ = false;
    bool keep_alive_ = false;
    bool content_may_follow_ = false;
    bool nominates_trailers_ = false;
    // True if the port reads the content, too.
    bool is_read_ = false;
    std::uint32_t interim_count_ = 0;
    int status_ = 0;
    std::uint64_t bytes_ = 0;
    http::body_reader body_;
    std::string_view trailers_;
    // The beginning of a head that comes in pieces.
    http::partial_head partial_head_;

    progress read_head(std::span<char>& bytes, answer_port& port, reply_port& reply);
    void take(http::response_head& head, answer_port& port, reply_port& reply);
    progress read_body(std::span<char>& bytes, answer_port& port, reply_port& reply);
};

}  // namespace gateway::proxy
