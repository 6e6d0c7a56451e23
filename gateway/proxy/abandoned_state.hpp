// `abandoned_state` is the rest of an exchange whose client has left or was answered by the
// gateway, as a sans-I/O machine. It knows when the server is done with the request, so that
// another may have its slot.
#pragma once

#include "gateway/proxy/answer_state.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::proxy {

class abandoned_state final : private reply_port {
public:
    // `answer`: the part of the response that has been read.
    abandoned_state(answer_port& port, answer_state&& answer, abandon_until until)
        : port_(port), answer_(std::move(answer)), until_(until)
    {}

    void start();
    void upstream_bytes(std::span<char> bytes);
    // Called when the upstream's connection has ended; `orderly` is false if it was reset.
    void upstream_closed(bool orderly);
    // Called when the response has taken too long.
    void expired();
    // Called when the process ends.
    void abort();

    // True once the connection was given back.
    bool over() const { return over_; }

    // Returns the trailer section of the response as it came, if that has ended.
    std::optional<std::string_view> trailers() const
    {
        return trailers_ ? std::optional<std::string_view>{*trailers_} : std::nullopt;
    }

    // Status of the response, or 0 while there is none.
    int status() const { return answer_.status(); }

    // Bytes of content that have come.
    std::uint64_t response_bytes() const { return answer_.bytes(); }

    // True if the response is read to its end, because it may correct charges.
    bool finishes() const { return until_ == abandon_until::finished; }

private:
    answer_port& port_;
    answer_state answer_;
    const abandon_until until_;
    bool over_ = false;
    // Set when the response has ended.
    std::optional<std::string> trailers_;

    void end(answer_port::disposition how);
    void fail(failure why);

    // reply_port: drops the response.
    void interim_response(const http::response_head&) override {}

    void response(const http::response_head&) override {}

    void response_content(std::string_view) override {}

    void response_end(std::string_view) override {}
};

}  // namespace gateway::proxy
