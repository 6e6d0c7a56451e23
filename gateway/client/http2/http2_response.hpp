// `http2_response` is what a stream sends to its client: the heads, which say what HTTP/1.1 would
// say, and content as the client's window allows.
// Ownership: its stream.
// Thread: one thread only.
#pragma once

#include "gateway/client/requests/rate_limit_rpc.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/output/added_fields.hpp"
#include "gateway/http2/engine.hpp"
#include "gateway/http2/outgoing_content.hpp"
#include "gateway/limits/admission.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gateway::client {

class http2_connection;
class http2_stream;

class http2_response {
public:
    // Ownership: `env` outlives this object.
    explicit http2_response(session_environment& env) : env_(env) {}

    // Prepares for the response on a stream.
    void begin(http2_connection& on, http2::stream_id id, http2_stream& stream);

    // Sets the request that it answers.
    void answers(const http::request_head& request);

    // Sends the gateway's own response, whole. Returns the number of bytes of its content.
    std::uint64_t respond(const limits::admission& a, http::added_fields added);
    // Sends the answer to a call of gRPC: a message and trailers, or trailers only.
    void answer(const grpc_answer& a);
    void send_interim(const http::response_head& head, const http::added_fields& added);
    // Sends the head of an upstream's response.
    void send_head(const http::response_head& head, http::added_fields added);
    // Sends the head that begins a tunnel, whose status is 200 here (RFC 8441 §5).
    void send_grant(const http::response_head& head, const http::added_fields& added);
    // Takes content, and keeps the part that the client's window does not allow: at most the bytes
    // of one read of the upstream.
    void send(std::string_view content);
    void end(std::string_view trailers);

    // Drops what was not sent, as the stream is reset.
    void give_up() { content_.drop(); }

    // Has the engine send what has become due.
    void resume();

    bool is_ended() const { return content_.is_ended(); }

    // Returns content that is to be sent.
    std::string_view pending() const { return content_.pending(); }

    std::string_view trailers() const { return content_.trailers(); }

    void content_sent(std::size_t bytes);

private:
    session_environment& env_;
    http2_connection* connection_ = nullptr;
    http2_stream* stream_ = nullptr;
    http2::stream_id id_ = 0;
    // True if the request is a HEAD.
    bool head_only_ = false;
    // True if the request asks for a WebSocket, which any 2xx would grant (RFC 8441 §5): one that
    // does not mean it becomes 502.
    bool asks_for_websocket_ = false;
    bool is_granted_ = false;
    bool begun_ = false;
    http2::outgoing_content content_;

    void send_text(int status, std::span<char> text, bool last);
};

}  // namespace gateway::client
