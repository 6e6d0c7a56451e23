// The trailers of chunked bodies, both ways.
#include "gateway/client/http1/http1_state.hpp"
#include "tests/unit/client/http1_fixture.hpp"

#include <gmock/gmock.h>

namespace gateway::client {
namespace http1_trailers_test {

using phase = http1_state::phase;
using ::testing::EndsWith;

constexpr std::string_view get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view post_chunked =
    "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

using http1_trailers = testing::http1_fixture;

TEST_F(http1_trailers, sends_the_trailers_of_a_request_upstream_however_they_come)
{
    const std::string body = "1\r\na\r\n0\r\nX-A: 1\r\nHost: h\r\nX-Hidden: 2\r\nX-B:3\r\n\r\n";
    for (std::size_t n = 0; n < body.size(); ++n) {
        port.client(post_chunked);
        const std::size_t head = port.upstream().size();
        port.client(body.substr(0, n));
        port.client(body.substr(n));
        EXPECT_EQ(port.upstream().substr(head), "1\r\na\r\n0\r\nX-A: 1\r\nX-B: 3\r\n\r\n") << n;
        EXPECT_EQ(port.http1.waits_for(), timeout::response);
        port.server(ok);
        EXPECT_EQ(at(), phase::idle);
    }
}

TEST_F(http1_trailers, sends_no_trailers_of_a_malformed_section)
{
    port.client(post_chunked);
    const std::size_t head = port.upstream().size();
    port.client("0\r\nX-A: 1\r\n");
    port.client(" folded\r\n\r\n");
    EXPECT_EQ(port.upstream().substr(head), "");
    EXPECT_EQ(port.ends.at(0).status, 400);
    EXPECT_EQ(at(), phase::lingering);
}

TEST_F(http1_trailers, gives_the_trailers_of_a_chunked_response_to_a_client_that_accepts_them)
{
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string body =
        "1\r\na\r\n0\r\nX-A: 1\r\nSet-Cookie: s\r\nX-Hidden: 2\r\nX-B:3\r\n\r\n";
    const auto received = [&](std::string_view request) {
        port.to_client.clear();
        port.client(request);
        port.server(head + body);
        return port.to_client;
    };
    EXPECT_THAT(
        received("GET /a HTTP/1.1\r\nHost: h\r\nTE: trailers\r\n\r\n"),
        EndsWith("1\r\na\r\n0\r\nX-A: 1\r\nX-B: 3\r\n\r\n")
    );
    EXPECT_THAT(received(get), EndsWith("1\r\na\r\n0\r\n\r\n")) << "it does not say that it does";
    EXPECT_THAT(
        received("GET /a HTTP/1.0\r\nHost: h\r\nTE: trailers\r\n\r\n"), EndsWith("\r\n\r\na")
    );
}

TEST_F(http1_trailers, reads_away_those_of_a_body_that_nobody_wants)
{
    port.client(post_chunked);
    port.server(ok);
    EXPECT_EQ(at(), phase::draining);
    port.client("0\r\nX-A: 1\r\n");
    port.client("X-B: 2\r\n\r\n" + std::string(get));
    EXPECT_EQ(port.leases.size(), 2U);
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
}

}  // namespace http1_trailers_test
}  // namespace gateway::client
