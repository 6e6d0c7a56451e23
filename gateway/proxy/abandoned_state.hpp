// An `abandoned_state` is the rest of an exchange whose client has left, as a sans-I/O machine. It
// knows when the server is done with the request, so that its place may be another's.
#pragma once

#include "gateway/proxy/answer_state.hpp"

#include <span>

namespace gateway::proxy {

class abandoned_state final : private reply_port {
public:
    // `answer`: what has come of it.
    abandoned_state(answer_port& port, answer_state&& answer, abandon_until until)
        : port_(port), answer_(std::move(answer)), until_(until)
    {}

    void start();
    void upstream_bytes(std::span<char> bytes);
    // The upstream's connection has ended; not orderly: it was reset.
    void upstream_closed(bool orderly);
    // The response has taken too long.
    void expired();
    // The process ends.
    void abort();

    // The connection was given back.
    bool over() const { return over_; }

    // True if the response is read to its end, as it may correct charges.
    bool finishes() const { return until_ == abandon_until::finished; }

private:
    answer_port& port_;
    answer_state answer_;
    const abandon_until until_;
    bool over_ = false;

    void end(answer_port::disposition how);
    void fail(failure why);

    // reply_port: nobody reads it
    void interim_response(const http::response_head&) override {}

    void response(const http::response_head&) override {}

    void response_content(std::string_view) override {}

    void response_end() override {}
};

}  // namespace gateway::proxy
