// Input: what a client sends behind the preface and its SETTINGS. Whatever comes: each head becomes
// a text that the parser of HTTP/1 takes or refuses as one whole head, no stream gets an event
// after its end, content is answered and consumed, and the engine's own frames stay few.
#include "gateway/http/input/request_parser.hpp"
#include "gateway/http2/engine.hpp"
#include "gateway/http2/preface.hpp"
#include "gateway/http2/request_text.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

namespace {

using namespace gateway;
using fuzz::require;

class connection;

class stream final : public http2::stream_events {
public:
    stream(connection& of, http2::stream_id id) : of_(of), id_(id) {}

    bool over() const { return over_; }

private:
    connection& of_;
    const http2::stream_id id_;
    bool over_ = false;
    bool has_head_ = false;
    bool ended_ = false;
    std::string pending_;

    void field(std::string_view name, std::string_view value) override;
    void fields_ended(bool last) override;
    void content(std::string_view bytes) override;

    void content_ended() override
    {
        require(!over_ && has_head_);
        ended_ = true;
    }

    void stream_closed(http2::error_code) override
    {
        require(!over_);
        over_ = true;
    }

    std::string_view pending() const override { return pending_; }

    bool is_last_pending() const override { return true; }

    std::string_view trailers() const override { return ended_ ? "x-end: 1\r\n" : ""; }

    void content_sent(std::size_t bytes) override
    {
        require(bytes <= pending_.size());
        pending_.erase(0, bytes);
    }
};

class connection final : public http2::engine_events {
public:
    static constexpr std::size_t most_sent = 64 * 1024 * 1024;

    connection()
        : engine(
              http2::engine::role::server, http2::options{}, bounds.max_header_bytes, *this, out_
          )
    {}

    http::options bounds{};
    http2::request_text head;
    http2::engine engine;

    void run(std::span<const char> bytes)
    {
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t n = std::min<std::size_t>(
                bytes.size() - at, 1 + static_cast<unsigned char>(bytes[at]) * 8U
            );
            if (engine.receive(bytes.subspan(at, n)) != http2::engine::failure::none) {
                return;
            }
            engine.send_frames();
            if (engine.is_over()) {
                return;
            }
            streams_.remove_if([](const stream& s) { return s.over(); });
            at += n;
        }
    }

private:
    std::string out_;
    std::size_t sent_ = 0;
    std::list<stream> streams_;

    http2::stream_events* stream_opened(http2::stream_id id) override
    {
        require(streams_.size() <= 1000);
        head.clear();
        return &streams_.emplace_back(*this, id);
    }

    void idle_frame(std::size_t) override {}

    void stream_refused() override {}

    void ponged() override {}

    void send_bytes(std::string_view a, std::string_view b) override
    {
        sent_ += a.size() + b.size();
        require(sent_ < most_sent);
    }

    bool is_blocked() const override { return false; }
};

void stream::field(std::string_view name, std::string_view value)
{
    require(!over_);
    if (!has_head_) {
        of_.head.add(name, value, of_.bounds);
        require(of_.head.held_bytes() <= of_.bounds.max_header_bytes);
    }
}

void stream::fields_ended(bool last)
{
    require(!over_);
    if (has_head_) {
        ended_ = last;
        return;
    }
    has_head_ = true;
    ended_ = last;
    const auto verdict = of_.head.finish(last, "AAAAAAAAAAAAAAAAAAAAAA==");
    if (verdict == http2::request_text::verdict::malformed) {
        of_.engine.reset(id_, http2::error_code::protocol_error);
        return;
    }
    if (verdict == http2::request_text::verdict::readable) {
        const std::string_view text = of_.head.text();
        http::request_head parsed;
        const auto result = http::parse_request_head(text, of_.bounds, parsed);
        require(
            result.is != http::parse_result::state::incomplete ||
            text.size() >= of_.bounds.max_header_bytes
        );
        if (result.is == http::parse_result::state::complete) {
            require(parsed.size == text.size());
            require(parsed.body.how != http::framing::kind::until_close);
            require(!last || parsed.body.is_empty());
        }
    }
    pending_ = std::string(100, 'x');
    std::string lines = "Date: now\r\nConnection: close\r\nContent-Type: text/plain\r\n";
    of_.engine.respond(id_, 200, lines, false, *this);
}

void stream::content(std::string_view bytes)
{
    require(!over_ && has_head_ && !bytes.empty());
    of_.engine.consume(id_, bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    connection c;
    const std::string beginning =
        std::string(http2::preface::text) + std::string(3, '\0') + "\x04" + std::string(5, '\0');
    require(c.engine.receive(beginning) == http2::engine::failure::none);
    c.run({reinterpret_cast<const char*>(data), size});
    return 0;
}
