// A machine at rest may serve another client: nothing of the last one is left in it.
#include "tests/unit/client/http1_fixture.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace gateway::client {
namespace http1_rest_test {

using phase = http1_state::phase;
using request_phase = request_state::phase;
using testing::handshake;
using testing::lease_plan;
using testing::recording_port;
using testing::refusal;

using script = std::function<void(recording_port&)>;

const std::string plain = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

script answered(std::string request, std::string response)
{
    return [request = std::move(request), response = std::move(response)](recording_port& p) {
        p.client(request);
        p.server(response);
    };
}

script refused(std::string request, int status)
{
    return [request = std::move(request), status](recording_port& p) {
        p.decide = [status](const http::request_head&) { return refusal(status); };
        p.client(request);
        p.decide = nullptr;
    };
}

// Each leaves a connection that may have another request.
const std::vector<script> lives{
    answered(plain, ok),
    answered("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    answered("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ok),
    answered("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n"),
    answered(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
    ),
    answered("\r\n\r\n" + plain, ok),
    answered(handshake, ok),  // not granted
    refused(plain, 429),
    refused(handshake, 429),
    refused("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", 503),
    refused("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", 429),
    [](recording_port& p) {  // an upstream that ends between the requests
        p.client(plain);
        p.server_closes();
    },
    [](recording_port& p) {
        p.plans.push_back(lease_plan::failed);
        p.client(plain);
    },
    [](recording_port& p) {  // a waiting request, before its body's end
        p.client("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        p.server("HTTP/1.1 100 Continue\r\n\r\n");
        p.client("hi");
        p.server(ok);
    },
};

const std::vector<script> first_words{
    answered(plain, ok),
    answered("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    answered("GET / HTTP/1.0\r\n\r\n", ok),
    answered(handshake, "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
    answered("\r\n\r\n\r\n\r\n" + plain, ok),
    refused(plain, 429),
    [](recording_port& p) { p.client("no request\r\n\r\n"); },
    [](recording_port& p) {
        p.client("GET / HT");
        p.expire();
    },
    [](recording_port& p) { p.client_leaves(); },
    [](recording_port& p) { p.expire(); },
};

TEST(http1_at_rest, serves_the_next_client_as_if_it_were_new)
{
    for (std::size_t l = 0; l < lives.size(); ++l) {
        for (std::size_t w = 0; w < first_words.size(); ++w) {
            recording_port fresh;
            first_words[w](fresh);

            recording_port used;
            lives[l](used);
            ASSERT_TRUE(used.http1.at_rest()) << "life " << l;
            const std::size_t said = used.to_client.size();
            const std::size_t asked = used.leases.size();
            const std::size_t ended = used.ends.size();
            first_words[w](used);

            EXPECT_EQ(used.broken, "");
            EXPECT_EQ(used.to_client.substr(said), fresh.to_client) << l << ", then " << w;
            EXPECT_EQ(used.http1.at(), fresh.http1.at()) << l << ", then " << w;
            ASSERT_EQ(used.leases.size() - asked, fresh.leases.size()) << l << ", then " << w;
            for (std::size_t i = 0; i < fresh.leases.size(); ++i) {
                EXPECT_EQ(used.leases[asked + i].sent, fresh.leases[i].sent);
                EXPECT_EQ(used.leases[asked + i].kept, fresh.leases[i].kept);
            }
            ASSERT_EQ(used.ends.size() - ended, fresh.ends.size()) << l << ", then " << w;
            for (std::size_t i = 0; i < fresh.ends.size(); ++i) {
                EXPECT_EQ(used.ends[ended + i].status, fresh.ends[i].status);
                EXPECT_EQ(used.ends[ended + i].request_bytes, fresh.ends[i].request_bytes);
                EXPECT_EQ(used.ends[ended + i].response_bytes, fresh.ends[i].response_bytes);
                EXPECT_EQ(used.ends[ended + i].error, fresh.ends[i].error);
            }
            used.abort();
            fresh.abort();
        }
    }
}

using http1_rest = testing::http1_fixture;

TEST_F(http1_rest, is_none_while_something_of_the_client_is_remembered)
{
    EXPECT_TRUE(port.http1.at_rest());
    port.client("\r\n");
    EXPECT_EQ(at(), phase::idle);
    EXPECT_FALSE(port.http1.at_rest());  // one of the few that may come
    port.client("\r");
    EXPECT_FALSE(port.http1.at_rest());
    port.client("\n" + plain);
    EXPECT_FALSE(port.http1.at_rest());
    port.server(ok);
    EXPECT_TRUE(port.http1.at_rest());
    port.client("GET /");
    EXPECT_FALSE(port.http1.at_rest());
}

TEST_F(http1_rest, is_none_while_a_request_waits_for_the_client_to_read)
{
    port.client(plain);
    port.blocked = true;
    port.client(plain);
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
    EXPECT_FALSE(port.http1.at_rest());
    port.unblock();
    EXPECT_EQ(request_at(), request_phase::exchanging);
}

TEST_F(http1_rest, is_none_once_it_is_told_to_end_with_the_request)
{
    port.drain();
    EXPECT_FALSE(port.http1.at_rest());
}

}  // namespace http1_rest_test
}  // namespace gateway::client
