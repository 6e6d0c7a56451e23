// Input: events of a session, each a byte for its kind, perhaps one for its size, and its bytes.
// Whatever comes in whatever order: the session keeps its contract (recording_port), what it sends
// upstream are well-formed requests, one per connection's use, and what it sends to the client are
// well-formed responses, one per request; behind a 101 come the bytes of a tunnel, all of them.
#include "tests/fuzz/require.hpp"
#include "tests/unit/client/plain_messages.hpp"
#include "tests/unit/client/recording_port.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace {

using namespace gateway;
using client::testing::lease_plan;
using client::testing::plain_message;
using client::testing::recording_port;
using fuzz::require;
using limits::admission;

constexpr std::array<std::string_view, 13> requests{
    "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
    "HEAD /b HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
    "POST /d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "GET /e HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET /f HTTP/1.0\r\n\r\n",
    "GET /g HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    "PUT /h HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    "POST /i HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n",
    "POST /j HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    "GET /k HTTP/1.1\r\nHost",
    ": h\r\n\r\n",
    "GET /l HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
};

constexpr std::array<std::string_view, 13> responses{
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nuntil the end",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Len",
    "HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nframes",
};

class script {
public:
    explicit script(std::string_view input) : input_(input)
    {
        port_.http_limits = {.max_body_bytes = 4096};
    }

    void run()
    {
        while (at_ < input_.size()) {
            step(next());
            settle();
        }
        end();
    }

private:
    recording_port port_;
    std::string_view input_;
    std::size_t at_ = 0;
    std::deque<std::string> from_client_;  // what its kernel holds
    admission said_;

    unsigned char next()
    {
        return at_ < input_.size() ? static_cast<unsigned char>(input_[at_++]) : 0;
    }

    std::string_view some()
    {
        const std::string_view bytes = input_.substr(at_, next());
        at_ = std::min(at_ + bytes.size(), input_.size());
        return bytes;
    }

    void step(unsigned char kind)
    {
        const unsigned char detail = kind / 16;
        switch (kind % 16) {
            case 0:
            case 1:
                from_client_.emplace_back(some());
                break;
            case 2:
            case 3:
                from_client_.emplace_back(requests[detail % requests.size()]);
                break;
            case 4:
                upstream(some());
                break;
            case 5:
            case 6:
                upstream(responses[detail % responses.size()]);
                break;
            default:
                happen(kind % 16, detail);
        }
    }

    void happen(int kind, unsigned char detail)
    {
        switch (kind) {
            case 7:
                say(detail);
                break;
            case 8:
                plan(detail);
                break;
            case 9:
                lease(detail);
                break;
            case 10:
                if (port_.has_connection()) {
                    port_.server_closes(detail % 2 == 0);
                }
                break;
            case 11:
                port_.finishes_without_client_too = detail % 2 != 0;
                port_.client_leaves();
                break;
            case 12:
                expire();
                break;
            case 13:
                block(detail);
                break;
            case 14:
                block_upstream(detail % 2 == 0);
                break;
            default:
                detail == 0 ? port_.drain() : settle_admission();
        }
    }

    void say(unsigned char detail)
    {
        constexpr std::array<int, 4> codes{429, 503, 404, 400};
        admission a;
        a.next = static_cast<admission::action>(detail % 3);
        a.status = codes[detail / 3 % 4];
        a.detail = "no";
        said_ = a;
        port_.decide = [a](const http::request_head&) { return a; };
    }

    void settle_admission()
    {
        if (port_.admission_pending()) {
            admission a = said_;
            a.next = a.status == 429 ? admission::action::respond : admission::action::forward;
            port_.answer_admission(a);
        }
    }

    void plan(unsigned char detail) { port_.usual_plan = static_cast<lease_plan>(detail % 4); }

    void lease(unsigned char detail)
    {
        if (port_.lease_pending) {
            detail % 2 == 0 ? port_.lease_comes()
                            : port_.lease_breaks(static_cast<proxy::failure>(detail % 3));
        }
    }

    // As the shell: a client that does not take what was sent is gone.
    void expire()
    {
        const bool in_tunnel = port_.http1.in_tunnel();
        port_.blocked && !in_tunnel ? port_.client_leaves() : port_.expire();
    }

    void block_upstream(bool blocked)
    {
        if (!blocked && port_.upstream_is_blocked) {
            port_.unblock_upstream();
        }
        port_.upstream_is_blocked = blocked;
    }

    void block(unsigned char detail)
    {
        port_.block_when_sent = detail % 4 == 0;
        if (detail % 2 != 0 && port_.blocked) {
            port_.unblock();
        }
    }

    void upstream(std::string_view bytes)
    {
        if (!bytes.empty() && port_.request.wants_upstream_bytes()) {
            port_.server(bytes);
        }
    }

    void settle()
    {
        while (!from_client_.empty() && port_.http1.wants_client_bytes()) {
            if (!from_client_.front().empty()) {
                port_.client(from_client_.front());
            }
            from_client_.pop_front();
        }
        require(port_.broken.empty());
    }

    void end()
    {
        require_responses();
        if (!port_.closed) {
            port_.everybody_leaves();
        }
        require(port_.closed && port_.broken.empty());
        require_requests();
    }

    void require_requests()
    {
        for (const auto& lease : port_.leases) {
            const auto sent = client::testing::read_requests(lease.sent.substr(0, lease.tunnel_at));
            require(!sent.malformed && sent.rest.empty() && sent.messages.size() == 1);
            require(lease.released && (!lease.kept || sent.messages[0].complete));
        }
    }

    void require_responses()
    {
        const auto got = client::testing::read_responses(
            port_.to_client.substr(0, port_.tunnel_at), port_.begun_is_head
        );
        require(!got.malformed && got.rest.empty());
        std::size_t answered = 0;
        for (const plain_message& m : got.messages) {
            answered += m.status >= 200 || m.status == 101 ? 1 : 0;
        }
        std::size_t expected = 0;
        for (const auto& e : port_.ends) {
            expected += e.status != 0 ? 1 : 0;
        }
        const bool under_way = port_.request_open() && answered == expected + 1;
        require(answered == expected || under_way);
        const bool cut = under_way || port_.closed;
        require(
            got.messages.empty() || got.messages.back().complete || cut ||
            got.messages.back().ends_at_close
        );
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    script({reinterpret_cast<const char*>(data), size}).run();
    return 0;
}
