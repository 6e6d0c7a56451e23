// Input: a byte for the request, a byte for how the connection is had, then pieces of the response:
// a byte for the size and what follows. The same response in one piece must mean the same, also
// when the client leaves after it and another one follows.
#include "gateway/http/trailers.hpp"
#include "gateway/proxy/abandoned_state.hpp"
#include "gateway/proxy/exchange_state.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/proxy/framed_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

namespace {

using namespace gateway;
using fuzz::require;
using proxy::exchange_state;

struct sample {
    std::string_view method;
    http::framing body;
    bool websocket = false;
};

constexpr std::array<sample, 6> samples{{
    {"GET", {}},
    {"HEAD", {}},
    {"POST", {http::framing::kind::length, 3}},
    {"PUT", {http::framing::kind::chunked, 0}},
    {"POST", {}},
    {"GET", {}, true},
}};

class recorder final : public proxy::exchange_port,
                       public proxy::reply_port,
                       public proxy::exchange_owner {
public:
    exchange_state exchange{*this, *this, *this};
    std::optional<proxy::abandoned_state> rest;  // once the client has left
    bool finishes = false;
    std::string seen;  // by the client's side
    std::string sent;
    int leases = 0;
    int releases = 0;
    int ends = 0;
    bool reused = false;

    lease_progress lease(bool fresh) override
    {
        require(leases == releases);
        require(fresh == (leases == 1));
        ++leases;
        reused = reused && !fresh;
        return lease_progress::ready;
    }

    bool another_lease_may_help() const override { return reused; }

    proxy::failure lease_failure() const override { return proxy::failure::connect; }

    void begin_retry(std::string&) override {}

    void send_head(std::string_view head, const http::framing& body) override
    {
        require(leases == releases + 1 && ends == 0);
        framed_.head(head, body, sent);
    }

    void send_content(std::string_view content, bool last, std::string_view trailers) override
    {
        require(leases == releases + 1 && ends == 0);
        framed_.content(content, last, trailers, sent);
    }

    void send_bytes(std::string_view bytes) override
    {
        require(leases == releases + 1 && ends == 0);
        sent.append(bytes);
    }

    void release(disposition how) override
    {
        require(leases == releases + 1);
        ++releases;
        seen.append(how == disposition::keep ? "[kept]" : "[closed]");
    }

    bool finishes_without_client() const override { return finishes; }

    void abandon(proxy::answer_state&& answer, proxy::abandon_until until) override
    {
        require(finishes || until == proxy::abandon_until::answered);
        rest.emplace(*this, std::move(answer), until);
        rest->start();
    }

    http::response_head& response_head_storage() override { return head_; }

    const http::options& limits() const override { return limits_; }

    const proxy::upstream_options& upstream() const override { return upstream_; }

    void interim_response(const http::response_head& head) override
    {
        require(head.status < 200 && head.status != 101 && ends == 0);
        append(head);
    }

    void response(const http::response_head& head) override
    {
        require(head.status >= 200 && ends == 0);
        append(head);
    }

    void response_content(std::string_view content) override
    {
        require(ends == 0 && !content.empty());
        seen.append(content);
    }

    void response_end(std::string_view trailers) override
    {
        http::for_each_trailer(trailers, [](const http::field& f) {
            require(http::is_forwardable_trailer(f.name));
        });
        seen.append("[end]").append(trailers);
    }

    void exchange_done(std::string_view) override { end("[done]"); }

    bool upstream_blocked() const override { return false; }

    bool hides_from_upstream(std::string_view) const override { return false; }

    bool hides_from_client(std::string_view) const override { return false; }

    void end_sending_upstream() override { require(rest && leases == releases + 1); }

    void interim_responded(http::response_head&) override {}

    void responded(http::response_head& head) override
    {
        require(head.status == 101 || head.status >= 200);
    }

    void failed(proxy::failure, bool) override { require(rest || leases == releases); }

    void switched(const http::response_head& head, std::string_view after) override
    {
        require(head.status == 101);
        append(head);
        ++releases;  // it is the tunnel's from here on
        end("[switched]");
        seen.append(after);
    }

    void exchange_failed(proxy::failure why) override
    {
        end(exchange.response_begun() ? "[cut]" : proxy::name_of(why));
    }

    void receive(std::string_view bytes)
    {
        const auto copy = std::make_unique<char[]>(bytes.size());
        std::memcpy(copy.get(), bytes.data(), bytes.size());
        const std::span<char> all(copy.get(), bytes.size());
        rest ? rest->upstream_bytes(all) : exchange.upstream_bytes(all);
    }

private:
    proxy::testing::framed_text framed_;
    http::response_head head_;
    http::options limits_;
    proxy::upstream_options upstream_;

    void append(const http::response_head& head)
    {
        seen.append(std::to_string(head.status)).append(head.reason);
        for (const http::field& f : head.fields) {
            seen.append(f.line);
        }
    }

    void end(std::string_view how)
    {
        require(++ends == 1 && (rest || leases == releases));
        seen.append(how);
    }
};

void begin(recorder& r, unsigned char which, unsigned char flags)
{
    const sample& s = samples[which % samples.size()];
    r.reused = (flags & 1) != 0;
    http::request_head head;
    head.method = s.method;
    head.body = s.body;
    head.websocket = s.websocket;
    r.exchange.prepare(head).append("head");
    r.exchange.start();
    if (r.exchange.accepts_content() && (flags & 2) != 0) {
        r.exchange.request_content("abc", true, "X-T: a\r\nHost: b\r\n");
    }
}

// What was abandoned.
void end_rest(recorder& r, unsigned char flags)
{
    r.receive("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    if (!r.rest->over()) {
        (flags & 4) != 0 ? r.rest->expired() : r.rest->upstream_closed((flags & 8) == 0);
    }
    require(r.rest->over());
}

void end(recorder& r, unsigned char flags)
{
    r.finishes = (flags & 32) != 0;
    if ((flags & 16) != 0) {
        r.exchange.client_left();
    } else if ((flags & 4) != 0) {
        r.exchange.expired();
    } else {
        r.exchange.upstream_closed((flags & 8) == 0);
    }
    r.exchange.cancel();
    require(!r.exchange.active() && r.rest.has_value() == (r.leases != r.releases));
    if (r.rest) {
        end_rest(r, flags);
    }
    require(r.leases == r.releases);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) {
        return 0;
    }
    recorder in_pieces;
    recorder whole;
    begin(in_pieces, data[0], data[1]);
    begin(whole, data[0], data[1]);
    std::string all;
    for (std::size_t at = 2; at < size;) {
        const std::size_t n = std::min<std::size_t>(data[at] + 1U, size - at - 1);
        const std::string_view piece(reinterpret_cast<const char*>(data) + at + 1, n);
        at += n + 1;
        if (!piece.empty() && in_pieces.exchange.active()) {
            in_pieces.receive(piece);
            all.append(piece);
        }
    }
    if (!all.empty()) {
        whole.receive(all);
    }
    end(in_pieces, data[1]);
    end(whole, data[1]);
    require(in_pieces.seen == whole.seen && in_pieces.sent == whole.sent);
    require(in_pieces.leases <= 2 && in_pieces.leases == whole.leases);
    return 0;
}
