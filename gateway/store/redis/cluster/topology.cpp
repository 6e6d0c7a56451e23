#include "gateway/store/redis/cluster/topology.hpp"

#include "gateway/net/reported.hpp"
#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"

#include <boost/asio/co_spawn.hpp>

#include <array>
#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

namespace {

// Bounds of the rest between two rounds, which keeps many workers from burdening the nodes.
constexpr base::duration least_rest = std::chrono::milliseconds{100};
constexpr base::duration most_rest = std::chrono::milliseconds{300};

}  // namespace

net::task<map_answer> read_slots(
    dialogue& words, const redis_options& options, base::duration limit, net::server_address asked
)
{
    map_answer answer;
    reply received;
    std::string out;
    encode_login(out, options);
    const bool logs_in = !out.empty();
    std::optional<failure> why = co_await words.send(out, limit);
    if (!why && logs_in) {
        why = co_await words.read(received, limit);
    }
    if (!why && received.what == reply::kind::error) {
        answer.why = classify_login(received.text());
        answer.detail = quotable(received.text(), options.password);
        co_return answer;
    }
    out.clear();
    encode(out, std::array<std::string_view, 2>{"CLUSTER", "SLOTS"});
    if (!why) {
        why = co_await words.send(out, limit);
    }
    tree slots;
    if (!why) {
        why = co_await words.read(slots, limit);
    }
    if (why) {
        answer.why = *why;
        answer.detail = words.describe(*why);
    } else if (slots->type == REDIS_REPLY_ERROR) {
        const std::string_view error{slots->str, slots->len};
        answer.why = classify(error).why;
        answer.detail = quotable(error, options.password);
    } else {
        answer.map = slot_map::read(*slots, asked);
        answer.why = failure::protocol;
        answer.detail = "no reply to CLUSTER SLOTS";
    }
    co_return answer;
}

std::shared_ptr<topology> topology::start(
    const net::executor& executor, const redis_options& options, base::duration limit, listener& to
)
{
    auto made = std::make_shared<topology>(executor, options, limit, to);
    asio::co_spawn(executor, made->run(made), net::reported("what learns a Redis Cluster's nodes"));
    return made;
}

topology::topology(
    const net::executor& executor, const redis_options& options, base::duration limit, listener& to
)
    : options_(options),
      limit_(limit),
      to_(to),
      executor_(executor),
      words_(executor),
      tls_(options.tls),
      rest_timer_(executor),
      random_(std::random_device{}())
{}

void topology::doubt()
{
    if (!std::exchange(doubted_, true)) {
        rest_timer_.cancel();
    }
}

void topology::cancel()
{
    cancelled_ = true;
    if (connector_) {
        connector_->cancel();
    }
    words_.close();
    rest_timer_.cancel();
}

net::task<> topology::run(std::shared_ptr<topology> self)
{
    while (!self->cancelled_) {
        doubted_ = false;
        co_await ask_all();
        if (cancelled_) {
            break;
        }
        std::uniform_int_distribution<base::duration::rep> any{
            least_rest.count(), most_rest.count()};
        const base::instant soon = base::now() + base::duration{any(random_)};
        doubted_ = doubted_ || to_.in_doubt();
        while (!cancelled_ && !doubted_) {
            co_await net::pause(rest_timer_, net::for_ever);
        }
        while (!cancelled_ && base::now() < soon) {
            co_await net::pause(rest_timer_, soon - base::now());
        }
    }
}

// Asks the nodes one after the other, until one answers.
net::task<> topology::ask_all()
{
    map_answer last;
    std::string all;
    const std::vector<net::server_address> nodes = to_.nodes();
    for (std::size_t i = 0; i < nodes.size() && !cancelled_; ++i) {
        last = co_await ask(nodes[i]);
        words_.close();
        if (cancelled_) {
            co_return;
        }
        if (last.map) {
            to_.heard(*last.map);
            co_return;
        }
        all += (i == 0 ? "" : ", ") + nodes[i].text() + " (" + last.detail + ")";
    }
    if (!cancelled_) {
        to_.unknown(last.why, "no node tells the slots: " + all);
    }
}

net::task<map_answer> topology::ask(net::server_address node)
{
    connector_.emplace(executor_, node, limit_);
    net::stream_socket socket = co_await connector_->connect();
    connector_->cancel();
    if (!socket.is_open()) {
        map_answer none;
        none.why = connector_->timed_out() ? failure::timeout : failure::unreachable;
        none.detail = connector_->timed_out() ? "silent" : connector_->detail();
        co_return none;
    }
    words_.begin(std::move(socket), tls_.connect(node));
    co_return co_await read_slots(words_, options_, limit_, node);
}

}  // namespace gateway::store::redis
