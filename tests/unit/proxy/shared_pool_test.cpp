// Requests that share connections of HTTP/2, with a server of the test's own behind a real socket.
#include "gateway/http2/engine.hpp"
#include "gateway/http2/response_text.hpp"
#include "tests/unit/proxy/pool_fixture.hpp"

#include <gmock/gmock.h>

#include <array>
#include <fcntl.h>
#include <map>
#include <memory>

namespace gateway::proxy {
namespace shared_pool_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::pools;
using testing::run_until;

// A request as the server has it, and what it sends.
struct served_stream final : http2::stream_events {
    std::string fields_got;
    std::string content_got;
    bool ended = false;
    std::optional<http2::error_code> closed;
    std::string content_due;
    bool last_due = false;
    std::string trailers_due;

    void field(std::string_view name, std::string_view value) override
    {
        fields_got.append(name).append("=").append(value).append("\n");
    }

    void fields_ended(bool last) override { ended = last; }

    void content(std::string_view bytes) override { content_got.append(bytes); }

    void content_ended() override { ended = true; }

    void stream_closed(http2::error_code why) override { closed = why; }

    std::string_view pending() const override { return content_due; }

    bool is_last_pending() const override { return last_due; }

    std::string_view trailers() const override { return trailers_due; }

    void content_sent(std::size_t bytes) override { content_due.erase(0, bytes); }
};

// The server's end of one connection.
class served_connection final : public http2::engine_events {
public:
    std::map<http2::stream_id, served_stream> streams;
    std::size_t refuse_from = SIZE_MAX;

    explicit served_connection(int fd, std::uint32_t max_streams = 100)
        : fd_(fd),
          engine(http2::engine::role::server, bounds(max_streams), 16 * 1024, *this, frames_)
    {
        engine.send_frames();
    }

    ~served_connection() { close(); }

    void close()
    {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

    // Takes what has come and sends what is due.
    void work()
    {
        std::array<char, 65536> buffer;
        for (ssize_t n = 0; (n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;) {
            EXPECT_EQ(
                engine.receive({buffer.data(), static_cast<std::size_t>(n)}),
                http2::engine::failure::none
            );
        }
        engine.send_frames();
    }

    void respond(http2::stream_id id, std::string fields, std::string content, bool last = true)
    {
        served_stream& s = streams[id];
        s.content_due += content;
        s.last_due = last;
        engine.respond(id, 200, fields, last && content.empty() && s.trailers_due.empty(), s);
        engine.send_frames();
    }

    http2::stream_events* stream_opened(http2::stream_id id) override
    {
        return streams.size() >= refuse_from ? nullptr : &streams[id];
    }

    void idle_frame(std::size_t) override {}

    void ponged() override {}

    void send_bytes(std::string_view a, std::string_view b) override
    {
        const std::string all = std::string(a).append(b);
        (void)::send(fd_, all.data(), all.size(), MSG_NOSIGNAL);
    }

    bool is_blocked() const override { return false; }

private:
    static http2::options bounds(std::uint32_t max_streams)
    {
        http2::options o;
        o.max_streams = max_streams;
        return o;
    }

    int fd_;
    std::string frames_;

public:
    http2::engine engine;
};

// One request of the gateway.
class asking final : public pending_lease, public lessee {
public:
    upstream_carrier* got = nullptr;
    std::optional<failure> failed;
    std::string received;
    std::optional<net::received> ended;
    bool drained = false;

    void leased(upstream_carrier& c) override
    {
        got = &c;
        c.lease_to(this);
    }

    void lease_failed(failure why) override { failed = why; }

    void upstream_readable() override
    {
        std::span<char> text;
        const net::received is = got->receive_text(text, SIZE_MAX);
        if (is == net::received::data) {
            received.append(text.begin(), text.end());
        } else if (is != net::received::nothing) {
            ended = is;
        }
        if (!ended) {
            got->await_bytes();
        }
    }

    void upstream_backlog_changed() override {}

    void upstream_drained() override { drained = true; }

    void upstream_broken() override {}
};

// Takes nothing.
class idle_lessee final : public lessee {
    void upstream_readable() override {}

    void upstream_backlog_changed() override {}

    void upstream_drained() override {}

    void upstream_broken() override {}
};

class shared_pools : public pools {
protected:
    std::vector<std::unique_ptr<served_connection>> served;
    net::socket listening =
        net::open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}});
    std::uint32_t allowed = 100;
    // Connections beyond these get no greeting.
    std::size_t most_served = SIZE_MAX;

    void start(const std::function<void(upstream_options&)>& change = {})
    {
        upstream_options o = of({at(net::bound_port(listening))});
        o.protocol = upstream_protocol::http2;
        if (change) {
            change(o);
        }
        make(o);
    }

    void TearDown() override
    {
        p->close();
        until([&] { return p->empty(); });
    }

    // Lets both ends work until `done` says so.
    template <typename Done>
    void until(Done done)
    {
        run_until(loop, [&] {
            for (int fd = 0; served.size() < most_served &&
                             (fd = ::accept(listening.fd(), nullptr, nullptr)) >= 0;) {
                served.push_back(std::make_unique<served_connection>(fd, allowed));
            }
            for (const auto& each : served) {
                each->work();
            }
            return done();
        });
    }

    bool leases(asking& a, const lease_wish& wish = {})
    {
        const auto answer = p->lease(a, wish);
        if (answer.carrier != nullptr) {
            a.leased(*answer.carrier);
        }
        return answer.carrier != nullptr;
    }

    // Leases, sends a GET, and waits until the server has it.
    void ask(asking& a, http2::stream_id id)
    {
        leases(a);
        until([&] { return a.got != nullptr; });
        a.got->send_head("GET /x HTTP/1.1\r\nHost: h\r\n\r\n", {}, false);
        a.got->await_bytes();
        until([&] { return served.back()->streams.contains(id); });
    }
};

TEST_F(shared_pools, carry_a_request_and_its_response_as_the_text_of_http_1)
{
    start();
    asking a;
    ask(a, 1);
    EXPECT_EQ(
        served[0]->streams[1].fields_got, ":method=GET\n:scheme=http\n:path=/x\n:authority=h\n"
    );
    EXPECT_TRUE(served[0]->streams[1].ended);
    EXPECT_FALSE(a.got->reused());
    served[0]->streams[1].trailers_due = "x-t: 1\r\n";
    served[0]->respond(1, "x-a: 1\r\n", "hello");
    until([&] {
        return a.received.ends_with("\r\n\r\n") && a.received.find("x-t") != std::string::npos;
    });
    EXPECT_EQ(
        a.received,
        "HTTP/1.1 200 OK\r\nx-a: 1\r\ntransfer-encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n0\r\nx-t: 1\r\n\r\n"
    );
    p->release(*a.got, keep);
    asking b;
    EXPECT_TRUE(leases(b)) << "the connection is there";
    EXPECT_TRUE(b.got->reused());
    p->release(*b.got, keep);
}

TEST_F(shared_pools, share_the_connection_that_is_being_made)
{
    start();
    std::array<asking, 20> all;
    for (asking& a : all) {
        EXPECT_FALSE(leases(a));
    }
    until([&] { return std::all_of(all.begin(), all.end(), [](auto& a) { return a.got; }); });
    EXPECT_EQ(served.size(), 1U);
    EXPECT_EQ(servers[0].active.value(), 20);
    for (asking& a : all) {
        p->release(*a.got, keep);
    }
    EXPECT_EQ(servers[0].active.value(), 0);
}

TEST_F(shared_pools, make_a_second_connection_when_the_first_is_full)
{
    allowed = 2;
    start();
    std::array<asking, 3> all;
    ask(all[0], 1);
    ask(all[1], 3);
    until([&] {
        const bool has = leases(all[2]);
        if (has) {  // the server's SETTINGS have not come yet
            p->release(*std::exchange(all[2].got, nullptr), keep);
        }
        return !has;
    });
    until([&] { return all[2].got != nullptr; });
    EXPECT_EQ(served.size(), 2U);
    for (asking& a : all) {
        p->release(*a.got, shut);
    }
}

TEST_F(shared_pools, serve_who_waits_for_another_connection_when_a_stream_ends)
{
    allowed = 1;
    most_served = 1;
    start();
    asking a;
    ask(a, 1);
    std::array<asking, 2> waiting;
    until([&] {
        const bool has = leases(waiting[0]);
        if (has) {  // the server's SETTINGS have not come yet
            p->release(*std::exchange(waiting[0].got, nullptr), keep);
        }
        return !has;
    });
    EXPECT_FALSE(leases(waiting[1]));
    served[0]->respond(1, "", "x");
    until([&] { return a.received.ends_with("0\r\n\r\n"); });
    p->release(*a.got, keep);
    for (asking& w : waiting) {
        until([&] { return w.got != nullptr; });
        p->release(*w.got, keep);
    }
    EXPECT_EQ(servers[0].active.value(), 0);
}

TEST_F(shared_pools, fail_all_that_wait_for_a_server_that_is_not_there)
{
    upstream_options o = of({at(testing::closed_port())});
    o.protocol = upstream_protocol::http2;
    make(o);
    std::array<asking, 3> all;
    for (asking& a : all) {
        EXPECT_FALSE(leases(a));
    }
    all[1].abandon();
    run_until(loop, [&] { return all[0].failed && all[2].failed; });
    EXPECT_FALSE(all[1].failed);
    EXPECT_EQ(servers[0].active.value(), 0);
}

TEST_F(shared_pools, keep_the_attempt_for_others_when_its_first_lease_is_abandoned)
{
    start();
    std::array<asking, 2> all;
    EXPECT_FALSE(leases(all[0]));
    EXPECT_FALSE(leases(all[1]));
    all[0].abandon();
    until([&] { return all[1].got != nullptr; });
    EXPECT_EQ(all[0].got, nullptr);
    EXPECT_EQ(servers[0].active.value(), 1);
    p->release(*all[1].got, keep);
}

TEST_F(shared_pools, say_that_a_refused_request_may_be_repeated)
{
    start();
    asking first;
    ask(first, 1);
    served[0]->refuse_from = 1;
    asking second;
    ASSERT_TRUE(leases(second));
    second.got->send_head("POST / HTTP/1.1\r\nHost: h\r\n\r\n", {}, false);
    second.got->await_bytes();
    until([&] { return second.ended.has_value(); });
    EXPECT_EQ(second.ended, net::received::broken);
    EXPECT_EQ(second.got->why_lost(), loss::refused);
    EXPECT_FALSE(first.ended);
    p->release(*first.got, shut);
    p->release(*second.got, shut);
}

TEST_F(shared_pools, finish_what_is_under_way_after_goaway)
{
    start();
    asking a;
    ask(a, 1);
    served[0]->engine.end_after_streams();
    served[0]->engine.send_frames();
    asking b;
    until([&] {
        const bool has = leases(b);
        if (has) {  // GOAWAY has not come yet
            p->release(*b.got, keep);
        }
        return !has;
    });
    until([&] { return served.size() == 2 && b.got != nullptr; });
    served[0]->respond(1, "", "late");
    until([&] { return a.received.ends_with("late\r\n0\r\n\r\n"); });
    p->release(*a.got, keep);
    p->release(*b.got, keep);
}

TEST_F(shared_pools, tell_each_request_that_its_connection_is_lost)
{
    start();
    std::array<asking, 2> all;
    ask(all[0], 1);
    ask(all[1], 3);
    served[0]->close();
    until([&] { return all[0].ended && all[1].ended; });
    EXPECT_EQ(all[0].ended, net::received::broken);
    EXPECT_EQ(all[0].got->why_lost(), loss::ended);
    EXPECT_THAT(std::string(all[0].got->complaint()), HasSubstr("the connection ended"));
    EXPECT_FALSE(all[0].got->is_blocked());
    all[0].got->send_content("ignored", true, {});
    for (asking& a : all) {
        p->release(*a.got, shut);
    }
    until([&] { return p->empty(); });
}

TEST_F(shared_pools, reset_the_stream_of_a_client_that_leaves)
{
    start();
    asking a;
    ask(a, 1);
    p->release(*a.got, shut);
    until([&] { return served[0]->streams[1].closed.has_value(); });
    EXPECT_EQ(served[0]->streams[1].closed, http2::error_code::cancel);
    asking b;
    EXPECT_TRUE(leases(b)) << "the connection stays";
    p->release(*b.got, keep);
}

TEST_F(shared_pools, hold_no_more_of_a_response_than_its_window)
{
    start();
    asking slow;
    ask(slow, 1);
    asking quick;
    ask(quick, 3);
    quick.received.clear();
    const std::string big(1024UL * 1024, 'x');

    // The slow one takes nothing from now on.
    idle_lessee nobody;

    slow.got->lease_to(&nobody);
    served[0]->respond(1, "", big);
    served[0]->respond(3, "", big);
    until([&] { return quick.received.ends_with("\r\n0\r\n\r\n"); });
    EXPECT_GE(served[0]->streams[1].content_due.size(), big.size() - 64UL * 1024);
    p->release(*slow.got, shut);
    p->release(*quick.got, keep);
}

TEST_F(shared_pools, reset_a_response_whose_interim_heads_nobody_takes)
{
    start();
    asking a;
    ask(a, 1);
    idle_lessee nobody;
    a.got->lease_to(&nobody);
    until([&] {
        std::string fields = "x-a: " + std::string(10'000, 'x') + "\r\n";
        served[0]->engine.respond_interim(1, 103, fields);
        served[0]->engine.send_frames();
        return served[0]->streams[1].closed.has_value();
    });
    EXPECT_EQ(a.got->why_lost(), loss::malformed);
    p->release(*a.got, shut);
}

TEST_F(shared_pools, keep_content_for_which_there_is_no_window)
{
    start();
    asking a;
    leases(a);
    until([&] { return a.got != nullptr; });
    a.got->send_head(
        "PUT /x HTTP/1.1\r\nHost: h\r\n\r\n", {http::framing::kind::chunked, 0}, false
    );
    a.got->await_bytes();
    const std::string content(200'000, 'c');
    a.got->send_content(content, true, "x-t: 1\r\n");
    EXPECT_TRUE(a.got->is_blocked());
    until([&] { return !served.empty() && served[0]->streams[1].content_got.size() >= 65535; });
    std::size_t consumed = 0;
    until([&] {
        const std::size_t got = served[0]->streams[1].content_got.size();
        served[0]->engine.consume(1, got - std::exchange(consumed, got));
        return !a.got->is_blocked();
    });
    EXPECT_TRUE(a.drained);
    until([&] { return served[0]->streams[1].ended; });
    EXPECT_EQ(served[0]->streams[1].content_got, content);
    EXPECT_THAT(served[0]->streams[1].fields_got, HasSubstr("x-t=1\n"));
    p->release(*a.got, shut);
}

TEST_F(shared_pools, close_a_connection_that_is_idle_for_too_long)
{
    start([](upstream_options& o) { o.idle_timeout = std::chrono::milliseconds{1}; });
    asking a;
    ask(a, 1);
    served[0]->respond(1, "", "x");
    until([&] { return a.received.ends_with("0\r\n\r\n"); });
    p->release(*a.got, keep);
    until([&] { return p->empty(); });
}

TEST_F(shared_pools, end_when_they_are_retired_and_the_last_request_is_over)
{
    start();
    asking a;
    ask(a, 1);
    p->retire();
    served[0]->respond(1, "", "x");
    until([&] { return a.received.ends_with("0\r\n\r\n"); });
    EXPECT_FALSE(p->empty());
    p->release(*a.got, keep);
    until([&] { return p->empty(); });
}

}  // namespace shared_pool_test
}  // namespace gateway::proxy
