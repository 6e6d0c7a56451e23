// `http2_check` is a GET over HTTP/2 on a connection of its own, as a sans-I/O machine: bytes of
// the server go in, and bytes for it come out.
//
// Thread: one thread only.
#pragma once

#include "gateway/http2/engine.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::probes {

class http2_check final : private http2::engine_events, private http2::stream_events {
public:
    // `head`: the request in HTTP/1.1. `scheme`: http or https. The bounds are for the response.
    http2_check(
        std::string head,
        std::string_view scheme,
        std::size_t max_header_bytes,
        std::size_t max_body_bytes
    );

    // Takes bytes of the server. Returns false if they are no HTTP/2.
    bool receive(std::span<const char> bytes);

    // Returns the bytes that are due.
    std::string take_output() { return std::exchange(output_, {}); }

    // True if the response has ended, or as much of it has come as is read.
    bool is_done() const { return is_done_; }

    // Returns the response's status, or 0 if there is none.
    int status() const { return status_; }

private:
    std::string frames_;
    std::string output_;
    http2::stream_id id_ = 0;
    int status_ = 0;
    std::size_t body_bytes_ = 0;
    const std::size_t max_body_bytes_;
    bool is_done_ = false;
    http2::engine engine_;

    // http2::stream_events
    void field(std::string_view name, std::string_view value) override;

    void fields_ended(bool last) override { is_done_ = is_done_ || (last && status_ >= 200); }

    void content(std::string_view bytes) override;

    void content_ended() override { is_done_ = true; }

    void stream_closed(http2::error_code) override { is_done_ = true; }

    std::string_view pending() const override { return {}; }

    bool is_last_pending() const override { return true; }

    std::string_view trailers() const override { return {}; }

    void content_sent(std::size_t) override {}

    // http2::engine_events
    void send_bytes(std::string_view a, std::string_view b) override
    {
        output_.append(a).append(b);
    }

    bool is_blocked() const override { return false; }
};

}  // namespace gateway::probes
