#include "tests/unit/client/http1_fixture.hpp"
#include "tests/unit/client/plain_messages.hpp"

#include <gmock/gmock.h>

namespace gateway::client {
namespace http1_tunnel_test {

using phase = http1_state::phase;
using request_phase = request_state::phase;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::handshake;
using ::testing::HasSubstr;
using testing::lease_plan;
using ::testing::Not;
using testing::recording_port;
using ::testing::StartsWith;

const std::string grant =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const std::string get = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class http1_tunnel : public testing::http1_fixture {
protected:
    void open()
    {
        port.client(handshake);
        port.server(grant);
        ASSERT_EQ(request_at(), request_phase::tunnelling);
    }

    std::string to_client() const { return port.to_client.substr(port.tunnel_at); }

    std::string to_upstream() const
    {
        return port.leases.back().sent.substr(port.leases.back().tunnel_at);
    }
};

TEST_F(http1_tunnel, carries_bytes_both_ways_after_a_grant_and_is_one_request)
{
    port.reports = {{"per_client", &port.nine, {.allowed = true}}};
    open();
    EXPECT_THAT(port.upstream(), HasSubstr("\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"));
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
    EXPECT_THAT(port.to_client, HasSubstr("\r\nX-RateLimit-Limit: 9\r\n"));
    port.client("GET /not-parsed HTTP/1.1\r\n");
    port.server("HTTP/1.1 500 neither\r\n");
    EXPECT_EQ(to_upstream(), "GET /not-parsed HTTP/1.1\r\n");
    EXPECT_EQ(to_client(), "HTTP/1.1 500 neither\r\n");
    EXPECT_TRUE(port.ends.empty());
    port.client_leaves();
    EXPECT_TRUE(port.leases[0].shut && !port.leases[0].released);
    port.server("bye");
    port.server_closes();
    ASSERT_EQ(port.ends.size(), 1U);
    EXPECT_EQ(port.ends[0].status, 101);
    EXPECT_EQ(port.ends[0].request_bytes, 26U);
    EXPECT_EQ(port.ends[0].response_bytes, 25U);
    EXPECT_EQ(port.ends[0].error, "");
    EXPECT_TRUE(port.closed && !port.was_reset);
    EXPECT_FALSE(port.leases[0].kept);
}

TEST_F(http1_tunnel, begins_with_what_either_side_said_behind_its_head)
{
    port.client(handshake + "early");
    port.client(" bytes");
    EXPECT_THAT(port.upstream(), EndsWith("\r\n\r\n"));
    port.server(grant.substr(0, 50));
    port.server(grant.substr(50) + "frame");
    EXPECT_EQ(to_upstream(), "early bytes");
    EXPECT_EQ(to_client(), "frame");
}

TEST_F(http1_tunnel, never_takes_early_bytes_for_requests)
{
    struct {
        const char* name;
        std::vector<std::string> pieces;
    } const ways[] = {
        {"in one piece", {handshake + get}},
        {"after the head", {handshake, get}},
        {"after a head in pieces", {handshake.substr(0, 90), handshake.substr(90) + get}},
        {"before the head is looked at", {get, handshake + get}},
    };

    for (const auto& way : ways) {
        for (const int status : {0, 429}) {
            if (status != 0 && way.pieces.back() == get) {
                continue;  // that came after the answer
            }
            recording_port p;
            if (status != 0) {
                p.decide = [status](const http::request_head& head) {
                    limits::admission a;
                    a.next = head.websocket ? limits::admission::action::respond : a.next;
                    a.status = status;
                    return a;
                };
            }
            for (const std::string& piece : way.pieces) {
                p.client(piece);
            }
            while (p.has_connection()) {
                p.server(ok);
            }
            EXPECT_EQ(p.targets.back(), "/ws") << way.name << status;
            EXPECT_EQ(p.http1.at(), phase::lingering) << way.name << status;
            EXPECT_THAT(p.to_client, HasSubstr("\r\nConnection: close\r\n")) << way.name << status;
            p.client(get);
            EXPECT_EQ(p.targets.back(), "/ws") << way.name << status;
            EXPECT_EQ(p.broken, "");
            p.client_leaves();
        }
    }
}

TEST_F(http1_tunnel, is_not_had_where_the_upstream_answers_otherwise_and_requests_go_on)
{
    port.client(handshake);
    port.server("HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(at(), phase::idle);
    EXPECT_THAT(port.to_client, HasSubstr("\r\nUpgrade: h2c\r\n"));
    EXPECT_TRUE(port.leases[0].kept);
    port.decide = [](const http::request_head&) {
        limits::admission a;
        a.next = limits::admission::action::respond;
        a.status = 429;
        return a;
    };
    port.client(handshake);
    EXPECT_EQ(at(), phase::idle);
    port.decide = nullptr;
    port.client(handshake);
    port.usual_plan = lease_plan::reused;
    port.server("HTTP/1.1 100 Continue\r\n\r\n");
    port.server(grant);
    EXPECT_EQ(request_at(), request_phase::tunnelling);
}

TEST_F(http1_tunnel, is_not_had_where_nobody_asked_or_something_else_is_granted)
{
    const std::string other = "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    const std::vector<std::pair<std::string, std::string>> ways{
        {get, grant},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", other},
        {handshake, other},
        {handshake, "HTTP/1.1 101 x\r\n\r\n"},
    };
    for (const auto& [request, response] : ways) {
        port.client(request);
        port.server(response + "surplus");
        EXPECT_EQ(at(), phase::idle);
        EXPECT_EQ(port.ends.back().status, 502);
        EXPECT_TRUE(port.leases.back().released && !port.leases.back().kept);
        EXPECT_THAT(port.to_client, Not(HasSubstr("surplus")));
    }
}

TEST_F(http1_tunnel, reads_a_side_only_while_the_other_takes_what_comes)
{
    open();
    EXPECT_TRUE(port.http1.wants_client_bytes() && port.request.wants_upstream_bytes());
    EXPECT_EQ(port.http1.waits_for(), timeout::tunnel);
    port.blocked = true;
    EXPECT_TRUE(port.http1.wants_client_bytes() && !port.request.wants_upstream_bytes());
    EXPECT_EQ(port.http1.waits_for(), timeout::body);
    port.blocked = false;
    port.upstream_is_blocked = true;
    EXPECT_TRUE(!port.http1.wants_client_bytes() && port.request.wants_upstream_bytes());
    EXPECT_EQ(port.http1.waits_for(), timeout::body);
    port.client_leaves();
    port.server_closes();
    EXPECT_FALSE(port.closed) << "the last bytes are still on their way";
    port.unblock_upstream();
    EXPECT_TRUE(port.closed && !port.was_reset);
}

TEST_F(http1_tunnel, takes_no_more_early_bytes_than_its_inbox_is_meant_to_hold)
{
    port.client(handshake);
    const std::string piece(16 * 1024, 'x');
    std::size_t taken = 0;
    while (port.http1.wants_client_bytes()) {
        port.client(piece);
        taken += piece.size();
        ASSERT_LE(taken, port.http_limits.max_pipelined_bytes + piece.size());
    }
    port.server(grant);
    EXPECT_EQ(to_upstream().size(), taken);
    EXPECT_TRUE(port.http1.wants_client_bytes());
}

TEST_F(http1_tunnel, outlives_the_beginning_of_a_drain_but_not_its_end)
{
    open();
    port.drain();
    port.client("on");
    EXPECT_EQ(to_upstream(), "on");
    port.abort();
    EXPECT_TRUE(port.closed && !port.was_reset);
    EXPECT_EQ(port.ends[0].status, 101);
    EXPECT_THAT(port.ends[0].error, HasSubstr("the gateway ended"));
}

TEST_F(http1_tunnel, says_so_when_a_request_is_given_up_at_the_end_of_a_drain)
{
    port.client(get);
    port.abort();
    EXPECT_TRUE(port.closed);
    EXPECT_EQ(port.ends[0].status, 0);
    EXPECT_THAT(port.ends[0].error, HasSubstr("the gateway ended"));
}

enum class mishap {
    client_ends,
    client_resets,
    server_ends,
    server_resets,
    expires,
    aborts,
    drains,
    client_stalls,
    upstream_stalls
};

void happen(mishap what, recording_port& port)
{
    switch (what) {
        case mishap::client_ends:
        case mishap::client_resets:
            port.client_leaves(what == mishap::client_ends);
            break;
        case mishap::server_ends:
        case mishap::server_resets:
            if (port.has_connection()) {
                port.server_closes(what == mishap::server_ends);
            }
            break;
        case mishap::expires:
            port.expire();
            break;
        case mishap::aborts:
            port.abort();
            break;
        case mishap::drains:
            port.drain();
            break;
        case mishap::client_stalls:
            port.blocked = true;
            break;
        case mishap::upstream_stalls:
            port.upstream_is_blocked = true;
            break;
    }
}

// A whole life, in pieces of so many bytes; `what` happens after event number `when`. Returns
// whether it came to that.
bool live(recording_port& port, std::size_t size, mishap what, int when)
{
    int events = 0;
    const auto say = [&](std::string_view bytes, bool by_client) {
        while (!bytes.empty()) {
            const std::string_view piece = bytes.substr(0, size);
            bytes.remove_prefix(piece.size());
            const bool wanted = by_client
                                    ? port.http1.wants_client_bytes()
                                    : port.has_connection() && port.request.wants_upstream_bytes();
            if (port.closed || !wanted) {
                return;
            }
            by_client ? port.client(piece) : port.server(piece);
            if (events++ == when) {
                happen(what, port);
            }
        }
    };
    say(handshake, true);
    say(grant + "hello", false);
    say("client frames", true);
    say("server frames", false);
    return events > when;
}

TEST(http1_tunnels, keep_their_contract_whatever_goes_wrong_after_whatever_event)
{
    using enum mishap;
    for (const mishap what :
         {client_ends,
          client_resets,
          server_ends,
          server_resets,
          expires,
          aborts,
          drains,
          client_stalls,
          upstream_stalls}) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
            bool happened = true;
            for (int when = 0; happened; ++when) {
                recording_port port;
                happened = live(port, size, what, when);
                if (!port.closed) {
                    port.everybody_leaves();
                }
                ASSERT_EQ(port.broken, "") << static_cast<int>(what) << " after " << when;
                ASSERT_TRUE(port.closed) << static_cast<int>(what) << " after " << when;
                ASSERT_EQ(port.begins, port.ends.size());
                for (const auto& lease : port.leases) {
                    ASSERT_TRUE(lease.released && !(port.has_tunnel() && lease.kept));
                }
            }
        }
    }
}

}  // namespace http1_tunnel_test
}  // namespace gateway::client
