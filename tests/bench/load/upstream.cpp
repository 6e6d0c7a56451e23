#include "upstream.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

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
        if (tail_ == "\r\n\r\n" && !bytes.starts_with("POST ")) {
            left_ = bytes.starts_with("GET /large ") ? of_.large_ : of_.response_;
            send_left();
        }
    }

private:
    void send_left()
    {
        const ssize_t sent = wire_.send(left_);
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

upstream::upstream(loop& in, std::uint16_t port, std::size_t body_size, tls_settings tls)
    : loop_{in},
      listener_{listen_on(port)},
      tls_{std::move(tls)},
      response_{with_body(body_size == 0 ? std::string{document} : std::string(body_size, 'x'))},
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
