#include "upstream.hpp"

#include "request.hpp"
#include <algorithm>
#include <array>
#include <string_view>

namespace bench {

namespace {

constexpr std::string_view document =
    R"({"id":42,"name":"benchmark item","tags":["alpha","beta"],"price":19.99,"stock":1234,)"
    R"("active":true})";

std::string with_body(const std::string& body)
{
    return "HTTP/1.1 200 OK\r\nServer: upstream\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
           "Content-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

// An event of a language model's stream, as a chunk.
constexpr std::size_t event_size = 300;
constexpr std::string_view chunk_begin = "12c\r\n";
constexpr std::size_t chunk_size = chunk_begin.size() + event_size + 2;

std::string chunk(std::string data)
{
    data.resize(event_size - 2, ' ');
    return std::string{chunk_begin} + data + "\n\n\r\n";
}

std::string stream_of(std::size_t events)
{
    std::string text =
        "HTTP/1.1 200 OK\r\nServer: upstream\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
        "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string common =
        R"(data: {"id":"chatcmpl-9fT3bU0Kq1xYd6nLwR2sVgH8","object":"chat.completion.chunk",)"
        R"("created":1735689600,"model":"gpt-4o-mini-2024-07-18","system_fingerprint":"fp_0aa8d3e20b",)"
        R"("choices":[)";
    for (std::size_t i = 1; i < events; ++i) {
        text += chunk(
            common +
            R"({"index":0,"delta":{"content":" word\n"},"logprobs":null,"finish_reason":null}]})"
        );
    }
    text += chunk(
        common + R"(],"usage":{"prompt_tokens":12,"completion_tokens":345,"total_tokens":357}})"
    );
    return text + "0\r\n\r\n";
}

}  // namespace

class upstream::connection final : public watcher {
public:
    connection(const upstream& of, int fd) : of_{of}, wire_{fd, of.tls_} {}

    void ready() override
    {
        if (!left_.empty()) {
            send_left();
            return;
        }
        switch (wire_.shake()) {
            case wire::hands::being_shaken:
                return;
            case wire::hands::refused:
                wire_.close();
                return;
            case wire::hands::shaken:
                break;
        }
        static std::array<char, 16384> buffer;
        const ssize_t got = wire_.receive(buffer.data(), buffer.size());
        if (got < 0) {
            return;
        }
        if (got == 0) {
            wire_.close();
            return;
        }
        const std::string_view bytes{buffer.data(), static_cast<std::size_t>(got)};
        note(bytes);
        if (tail_ == message_end || (tail_ == "\r\n\r\n" && !bytes.starts_with("POST "))) {
            left_ = bytes.starts_with("GET /large ") ? of_.large_ : of_.response_;
            send_left();
        }
    }

private:
    void send_left()
    {
        const ssize_t sent = wire_.send(left_.substr(0, of_.piece_));
        left_.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
        if (left_.empty() == waits_) {
            waits_ = !waits_;
            of_.loop_.watch_writing(wire_.fd(), *this, waits_);
        }
    }

    void note(std::string_view bytes)  // the last four bytes tell the end of a head
    {
        if (bytes.size() >= 4) {
            tail_ = bytes.substr(bytes.size() - 4);
        } else {
            tail_ += bytes;
            tail_.erase(0, tail_.size() > 4 ? tail_.size() - 4 : 0);
        }
    }

    const upstream& of_;
    wire wire_;
    std::string_view left_;  // of the response under way
    bool waits_ = false;     // to write
    std::string tail_;
};

upstream::upstream(loop& in, const upstream_options& options)
    : loop_{in},
      listener_{listen_on(options.port)},
      tls_{options.tls},
      response_{
          options.events > 0
              ? stream_of(options.events)
              : with_body(
                    options.body == 0 ? std::string{document} : std::string(options.body, 'x')
                )},
      piece_{options.events > 0 ? chunk_size : std::string::npos},
      large_{with_body(std::string(256 * 1024, 'x'))}
{
    loop_.add(listener_, *this);
}

upstream::~upstream() = default;

void upstream::ready()
{
    for (int fd = accept_from(listener_); fd >= 0; fd = accept_from(listener_)) {
        connections_.push_back(std::make_unique<connection>(*this, fd));
        loop_.add(fd, *connections_.back());
    }
}

}  // namespace bench
