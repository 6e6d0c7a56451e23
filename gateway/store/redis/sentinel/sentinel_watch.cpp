#include "gateway/store/redis/sentinel/sentinel_watch.hpp"

#include "gateway/net/reported.hpp"
#include "gateway/store/redis/protocol/command.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

namespace {

constexpr base::duration shortest_rest = std::chrono::milliseconds{100};
// Most times that the rest doubles. It stays short, as a master that is replaced meanwhile is still
// asked for decisions.
constexpr int most_doublings = 2;

// Time of silence after which the sentinel is asked if it is there, and all are asked for the
// master: this one may be cut off from those that have named another.
constexpr base::duration quiet = std::chrono::milliseconds{500};

constexpr std::string_view channel = "+switch-master";

}  // namespace

std::shared_ptr<sentinel_watch> sentinel_watch::start(
    const net::executor& executor,
    const redis_options& options,
    base::duration limit,
    master_listener on_master
)
{
    auto made = std::make_shared<sentinel_watch>(executor, options, limit, std::move(on_master));
    asio::co_spawn(executor, made->run(made), net::reported("what learns Redis Sentinel's master"));
    return made;
}

sentinel_watch::sentinel_watch(
    const net::executor& executor,
    const redis_options& options,
    base::duration limit,
    master_listener on_master
)
    : options_(*options.sentinel),
      limit_(limit),
      on_master_(std::move(on_master)),
      sentinels_(sentinels::make(executor, options, limit)),
      words_(executor),
      tls_(options.tls),
      rest_timer_(executor),
      random_(std::random_device{}())
{
    for (const net::server_address& address : options_.sentinels) {
        connectors_.emplace_back(executor, address, limit);
    }
}

void sentinel_watch::cancel()
{
    cancelled_ = true;
    sentinels_->cancel();
    for (net::connector& connector : connectors_) {
        connector.cancel();
    }
    words_.close();
    rest_timer_.cancel();
}

// Listens to one sentinel after the other. Each worker begins at a random one.
net::task<> sentinel_watch::run(std::shared_ptr<sentinel_watch> self)
{
    for (std::size_t i = random_(); !cancelled_; ++i) {
        co_await self->listen_at(connectors_[i % connectors_.size()]);
        words_.close();
        if (!cancelled_) {
            co_await net::pause(rest_timer_, rest());
        }
    }
}

base::duration sentinel_watch::rest()
{
    const base::duration whole = shortest_rest * (1 << std::min(failures_++, most_doublings));
    const double part = std::uniform_real_distribution<double>{0.5, 1}(random_);
    return std::chrono::duration_cast<base::duration>(whole * part);
}

// Listens to a sentinel until it fails.
net::task<> sentinel_watch::listen_at(net::connector& to)
{
    net::stream_socket socket = co_await to.connect();
    if (!socket.is_open()) {
        co_return;
    }
    words_.begin(std::move(socket), tls_.connect(to.address()));
    bool good = co_await subscribe();
    if (!good) {
        co_return;
    }
    failures_ = 0;
    co_await ask_all();  // earlier messages were missed
    while (good && !cancelled_) {
        good = co_await hear();
    }
}

net::task<bool> sentinel_watch::subscribe()
{
    std::string out;
    if (!options_.password.empty()) {
        encode(out, std::array<std::string_view, 2>{"AUTH", options_.password});
    }
    encode(out, std::array<std::string_view, 2>{"SUBSCRIBE", channel});
    std::optional<failure> why = co_await words_.send(out, limit_);
    reply received;
    received.what = reply::kind::status;
    while (!why && received.what == reply::kind::status) {  // the reply to AUTH
        why = co_await words_.read(received, limit_);
    }
    co_return !why && received.word(0) == "subscribe";
}

// Waits for the next message or, without one, checks that the sentinel is still there. Returns
// false if it is not.
net::task<bool> sentinel_watch::hear()
{
    reply received;
    std::optional<failure> why = co_await words_.read(received, quiet);
    if (why == failure::timeout) {
        std::string ping;
        encode(ping, std::array<std::string_view, 1>{"PING"});
        why = co_await words_.send(ping, limit_);
        if (!why) {
            why = co_await words_.read(received, limit_);
        }
    }
    if (why) {
        co_return false;
    }
    // The message is "name old-host old-port new-host new-port", about any master that it watches.
    const std::string_view message = received.word(2);
    const bool others =
        received.word(0) == "message" && message.substr(0, message.find(' ')) != options_.master;
    if (!others) {
        co_await ask_all();
    }
    co_return true;
}

net::task<> sentinel_watch::ask_all()
{
    const naming named = co_await sentinels_->ask();
    if (!cancelled_ && !named.masters.empty()) {
        on_master_(named.masters.front());
    }
}

}  // namespace gateway::store::redis
