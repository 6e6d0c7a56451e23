// A server that misbehaves at one step, in every way we could think of, and then is good: no
// question waits longer than it may, none gets another one's answer, and the link finds back.
#include "tests/contract/subjects.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace gateway::store::testing {
namespace link_faults_test {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum class fault {
    none,
    silence,
    close,
    garbage,
    half,
    half_and_close,
    twice,
    wrong_shape,
    wrong_count,
    flood
};

constexpr std::array<std::string_view, 10> fault_names{
    "none",
    "silence",
    "close",
    "garbage",
    "half",
    "half_and_close",
    "twice",
    "wrong_shape",
    "wrong_count",
    "flood"};

// Answers PING and SCRIPT LOAD, then takes of one charge with the charge's own cost as what
// remains.
class fake_server {
public:
    fake_server(asio::io_context& io, fault f, int step)
        : acceptor_(io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}), fault_(f), step_(step)
    {
        accept();
    }

    std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }

    void close()
    {
        acceptor_.close();
        connections_.clear();
    }

    void be_good() { fault_ = fault::none; }

private:
    struct reader_freer {
        void operator()(redisReader* r) const { redisReaderFree(r); }
    };

    struct connection {
        explicit connection(tcp::socket s) : socket(std::move(s)) {}

        tcp::socket socket;
        std::array<char, 4096> bytes{};
        std::unique_ptr<redisReader, reader_freer> reader{redisReaderCreate()};
        int commands = 0;
    };

    tcp::acceptor acceptor_;
    fault fault_;
    int step_;
    std::vector<std::shared_ptr<connection>> connections_;

    void accept()
    {
        acceptor_.async_accept([this](const boost::system::error_code& ec, tcp::socket s) {
            if (!ec) {
                connections_.push_back(std::make_shared<connection>(std::move(s)));
                read(connections_.back());
                accept();
            }
        });
    }

    void read(const std::shared_ptr<connection>& c)
    {
        c->socket.async_read_some(
            asio::buffer(c->bytes),
            [this, c](const boost::system::error_code& ec, std::size_t n) {
                if (ec) {
                    return;
                }
                redisReaderFeed(c->reader.get(), c->bytes.data(), n);
                void* got = nullptr;
                while (redisReaderGetReply(c->reader.get(), &got) == REDIS_OK && got != nullptr) {
                    auto* command = static_cast<redisReply*>(got);
                    answer_to(*c, *command);
                    freeReplyObject(command);
                }
                read(c);
            }
        );
    }

    // EVALSHA sha keys KEYS... number, limits, interval and burst of each, then times 0 cost
    // limit keys. Its bucket owed what leaves as many tokens as a question costs. Nobody has given
    // any.
    static std::string answers_of(const redisReply& command)
    {
        const auto number = [&command](std::size_t i) {
            return std::stoll(command.element[i]->str);
        };
        const auto call = static_cast<std::size_t>(3 + number(2));
        const auto questions = static_cast<std::size_t>(number(call + 1)) * 2 + call + 2;
        std::vector<std::string> integers{std::to_string(number(call)), "0"};
        for (std::size_t at = questions; at < command.elements; at += 5) {
            const auto limit = call + 2 * static_cast<std::size_t>(number(at + 3));
            const auto owed = (number(limit + 1) - 2 * number(at + 2)) * number(limit);
            integers.insert(
                integers.end(), static_cast<std::size_t>(number(at + 4)), std::to_string(owed)
            );
        }
        std::string reply = "*" + std::to_string(integers.size()) + "\r\n";
        for (const std::string& i : integers) {
            reply += ":" + i + "\r\n";
        }
        return reply;
    }

    void answer_to(connection& c, const redisReply& command)
    {
        std::string good = "$40\r\n" + std::string(40, 'a') + "\r\n";
        if (std::string_view{command.element[0]->str} == "EVALSHA") {
            good = answers_of(command);
        } else if (std::string_view{command.element[0]->str} == "PING") {
            good = "+PONG\r\n";
        }
        const fault f = c.commands++ == step_ ? fault_ : fault::none;
        boost::system::error_code ignored;
        switch (f) {
            case fault::none:
                break;
            case fault::silence:
                return;
            case fault::close:
                c.socket.close(ignored);
                return;
            case fault::garbage:
                good = "HTTP/1.1 400 Bad Request\r\n\r\n";
                break;
            case fault::half:
                good.resize(good.size() / 2);
                break;
            case fault::half_and_close:
                good.resize(good.size() / 2);
                break;
            case fault::twice:
                good += good;
                break;
            case fault::wrong_shape:
                good = ":5\r\n";
                break;
            case fault::wrong_count:
                good = "*2\r\n:1\r\n:1\r\n";
                break;
            case fault::flood:
                good = "$400000000\r\n" + std::string(200'000, 'x');
                break;
        }
        asio::write(c.socket, asio::buffer(good), ignored);
        if (f == fault::half_and_close) {
            c.socket.close(ignored);
        }
    }
};

class link_faults : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(link_faults, cost_no_more_than_the_timeout_and_pass)
{
    const auto [step, kind] = GetParam();
    net::loop loop;
    auto& io = loop.context();
    telemetry::store_metrics metrics;
    fake_server server{io, static_cast<fault>(kind), step};
    redis_options o;
    o.port = server.port();
    o.timeout = milliseconds{50};
    const auto store = open_store(loop, "shared", o, metrics);
    const auto l = *limit::limit::make(1, hours{1}, 1000);
    run_until(
        io, [&] { return store->healthy(); }, milliseconds{100}
    );

    std::array<asker, 4> askers;  // pipelined: the fault hits one of them, or the greeting
    constexpr std::array<std::string_view, 4> names{"client 0", "client 1", "client 2", "client 3"};
    std::array<charge, 4> charges;
    for (std::size_t i = 0; i < askers.size(); ++i) {
        charges[i] = {"l", base::hashed_name{names[i]}, &l, static_cast<std::int64_t>(i) + 10};
        if (const auto refused = store->ask({&charges[i], 1}, askers[i])) {
            askers[i].failed(*refused, taken::no);
        }
    }
    const auto settled = [&] {
        return std::all_of(askers.begin(), askers.end(), [](const asker& a) {
            return a.settled();
        });
    };
    EXPECT_TRUE(run_until(io, settled, milliseconds{150}));

    server.be_good();
    ASSERT_TRUE(run_until(
        io, [&] { return store->healthy(); }, milliseconds{1500}
    ));
    run_until(
        io, [] { return false; }, milliseconds{20}
    );  // what is late arrives
    bool good = false;
    const base::instant until = base::now() + seconds{20};
    for (std::int64_t cost = 100; !good && base::now() < until; ++cost) {
        asker a;
        const charge c{
            .limit_name = "l", .bucket_name = base::hashed_name{"x"}, .limit = &l, .cost = cost};
        if (!store->ask({&c, 1}, a)) {
            ASSERT_TRUE(run_until(
                io, [&] { return a.settled(); }, milliseconds{500}
            ));
            good = a.got.has_value();
            ASSERT_TRUE(!good || a.got->decisions()[0].remaining == cost);
        } else {
            run_until(
                io, [&] { return store->healthy(); }, milliseconds{10}
            );
        }
    }
    EXPECT_TRUE(good);
    for (std::size_t i = 0; i < askers.size(); ++i) {
        EXPECT_EQ(askers[i].calls, 1);
        if (askers[i].got) {
            EXPECT_EQ(askers[i].got->decisions()[0].remaining, static_cast<std::int64_t>(i) + 10);
        }
    }
    store->close();
    server.close();
    net::testing::end(loop);
}

INSTANTIATE_TEST_SUITE_P(
    all,
    link_faults,
    ::testing::Combine(::testing::Values(0, 1, 2, 4), ::testing::Range(0, 10)),
    [](const auto& instance) {
        return std::string{fault_names[static_cast<std::size_t>(std::get<1>(instance.param))]} +
               "_at_" + std::to_string(std::get<0>(instance.param));
    }
);

}  // namespace link_faults_test
}  // namespace gateway::store::testing
