// Properties of whole dialogues: how the bytes were split does not matter, and whatever goes
// wrong at whatever step, the machines keep their contracts.
#include "tests/unit/client/plain_messages.hpp"
#include "tests/unit/client/recording_port.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::client {
namespace http1_property_test {

using testing::lease_plan;
using testing::plain_stream;
using testing::read_requests;
using testing::read_responses;
using testing::recording_port;

struct dialogue {
    const char* name;
    std::string client;
    std::vector<std::string> responses;  // one per use of a connection; empty: it closes instead
    lease_plan plan = lease_plan::fresh;
    int refused = 0;      // status, or 0: all is forwarded
    bool closes = false;  // the server, after each response
};

const std::vector<dialogue> dialogues{
    {"get",
     "GET /a HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n",
     {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}},
    {"pipelined",
     "\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nHost: h\r\nContent-Length: "
     "3\r\n\r\nabc"
     "HEAD /c HTTP/1.1\r\nHost: h\r\n\r\n",
     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
      "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n3;e\r\nccc\r\n0\r\nT: "
      "t\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"}},
    {"chunked_both_ways",
     "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
     "chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
     {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}},
    {"trailers_both_ways",
     "PUT /a HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nTransfer-Encoding: "
     "chunked\r\n\r\n3\r\nabc\r\n0\r\nX-A: 1\r\nHost: g\r\nX-B: 2\r\n\r\n",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-C: 3\r\nAge: "
      "4\r\nX-D: 5\r\n\r\n"}},
    {"old_client",
     "GET /a HTTP/1.0\r\n\r\n",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}},
    {"until_close",
     "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
     {"HTTP/1.1 200 OK\r\n\r\nuntil"},
     lease_plan::fresh,
     0,
     true},
    {"refused",
     "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcPOST /b HTTP/1.1\r\nHost: h\r\n"
     "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /c HTTP/1.1\r\nHost: h\r\n\r\n",
     {},
     lease_plan::fresh,
     429},
    {"bad_head",
     "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHo st: h\r\n\r\n",
     {"HTTP/1.1 204 No Content\r\n\r\n"}},
    {"bad_chunk",
     "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n",
     {}},
    {"bad_response",
     "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
     {"HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n"}},
    {"retried",
     "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
     {"", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
     lease_plan::reused},
    {"not_retried",
     "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
     {"", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
     lease_plan::reused},
};

enum class mishap { none, client_leaves, server_closes, server_resets, expires, drains };

// Plays a dialogue. The server speaks when it has the whole request; `how` happens after event
// number `when`.
class stage {
public:
    recording_port port;
    int events = 0;

    stage(const dialogue& c, mishap how, int when) : script_(c), how_(how), when_(when)
    {
        port.usual_plan = c.plan;
        if (c.refused != 0) {
            port.decide = [status = c.refused](const http::request_head&) {
                limits::admission a;
                a.next = limits::admission::action::respond;
                a.status = status;
                return a;
            };
        }
    }

    void play(
        const std::vector<std::size_t>& client_sizes, const std::vector<std::size_t>& server_sizes
    )
    {
        std::string_view left = script_.client;
        for (std::size_t i = 0; !left.empty() && !port.closed; ++i) {
            const std::string_view piece = left.substr(0, client_sizes[i % client_sizes.size()]);
            left.remove_prefix(piece.size());
            port.client(piece);
            after_event();
            respond(server_sizes);
        }
        respond(server_sizes);
    }

private:
    const dialogue& script_;
    mishap how_;
    int when_;
    std::size_t answered_ = 0;  // uses of connections

    bool asked() const
    {
        if (!port.has_connection() || port.leases.size() <= answered_) {
            return false;
        }
        const plain_stream sent = read_requests(port.leases.back().sent);
        return !sent.messages.empty() && sent.messages.back().complete;
    }

    void respond(const std::vector<std::size_t>& sizes)
    {
        while (asked() && answered_ < script_.responses.size()) {
            const std::size_t use = port.leases.size();
            std::string_view left = script_.responses[answered_++];
            const bool closes = left.empty() || script_.closes;
            for (std::size_t i = 0;
                 !left.empty() && port.has_connection() && port.leases.size() == use;
                 ++i) {
                const std::string_view piece = left.substr(0, sizes[i % sizes.size()]);
                left.remove_prefix(piece.size());
                port.server(piece);
                after_event();
            }
            if (closes && port.has_connection() && port.leases.size() == use) {
                port.server_closes();
                after_event();
            }
        }
    }

    void after_event()
    {
        if (events++ != when_) {
            return;
        }
        switch (how_) {
            case mishap::none:
                break;
            case mishap::client_leaves:
                port.client_leaves();
                break;
            case mishap::server_closes:
            case mishap::server_resets:
                if (port.has_connection()) {
                    port.server_closes(how_ == mishap::server_closes);
                }
                break;
            case mishap::expires:
                port.expire();
                break;
            case mishap::drains:
                port.drain();
                break;
        }
    }
};

struct outcome {
    std::vector<plain_stream> upstream;
    plain_stream client;
    bool closed;
    bool was_reset;
    bool shut;
    std::vector<int> statuses;

    bool operator==(const outcome&) const = default;
};

outcome outcome_of(const stage& s)
{
    outcome o{
        {},
        read_responses(s.port.to_client, s.port.begun_is_head),
        s.port.closed,
        s.port.was_reset,
        s.port.shut,
        {}};
    for (const auto& lease : s.port.leases) {
        o.upstream.push_back(read_requests(lease.sent));
        for (testing::plain_message& m : o.upstream.back().messages) {
            m.body =
                m.complete ? m.body : "";  // how much went ahead before it broke off may differ
        }
    }
    for (const auto& e : s.port.ends) {
        o.statuses.push_back(e.status);
    }
    return o;
}

class conversing : public ::testing::TestWithParam<dialogue> {};

const std::size_t whole = std::string::npos;

TEST_P(conversing, means_the_same_however_the_bytes_are_split)
{
    stage in_one_piece(GetParam(), mishap::none, 0);
    in_one_piece.play({whole}, {whole});
    const outcome expected = outcome_of(in_one_piece);
    EXPECT_FALSE(expected.client.malformed);
    EXPECT_FALSE(expected.client.messages.empty());
    const auto expect_same = [&](const std::vector<std::size_t>& client,
                                 const std::vector<std::size_t>& server) {
        stage s(GetParam(), mishap::none, 0);
        s.play(client, server);
        EXPECT_EQ(s.port.broken, "");
        EXPECT_TRUE(outcome_of(s) == expected)
            << ::testing::PrintToString(client) << ::testing::PrintToString(server);
    };
    for (std::size_t at = 1; at < GetParam().client.size(); ++at) {
        expect_same({at, whole}, {whole});
    }
    for (const std::string& response : GetParam().responses) {
        for (std::size_t at = 1; at < response.size(); ++at) {
            expect_same({whole}, {at, whole});
        }
    }
    expect_same({1}, {1});
    std::mt19937 random(20240229);
    std::uniform_int_distribution<std::size_t> size(1, 20);
    for (int round = 0; round < 100; ++round) {
        std::vector<std::size_t> client(31);
        std::vector<std::size_t> server(37);
        std::generate(client.begin(), client.end(), [&] { return size(random); });
        std::generate(server.begin(), server.end(), [&] { return size(random); });
        expect_same(client, server);
    }
}

TEST_P(conversing, keeps_its_contract_whatever_goes_wrong_after_whatever_event)
{
    using enum mishap;
    for (const mishap how : {client_leaves, server_closes, server_resets, expires, drains}) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{7}, whole}) {
            bool happened = true;
            for (int when = 0; happened; ++when) {
                stage s(GetParam(), how, when);
                s.play({size}, {size});
                happened = s.events > when;
                if (!s.port.closed) {
                    s.port.client_leaves();
                }
                ASSERT_EQ(s.port.broken, "") << static_cast<int>(how) << " after " << when;
                ASSERT_TRUE(s.port.closed);
                ASSERT_EQ(s.port.begins, s.port.ends.size());
                for (const auto& lease : s.port.leases) {
                    ASSERT_TRUE(lease.released);
                    ASSERT_FALSE(read_requests(lease.sent).malformed);
                }
                ASSERT_FALSE(read_responses(s.port.to_client, s.port.begun_is_head).malformed);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(all, conversing, ::testing::ValuesIn(dialogues), [](const auto& param) {
    return std::string(param.param.name);
});

}  // namespace http1_property_test
}  // namespace gateway::client
