#include "gateway/store/redis/rebasing.hpp"

#include "gateway/store/redis/cluster/topology.hpp"
#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"
#include "gateway/store/redis/protocol/greeting.hpp"
#include "gateway/store/remote/encoded_call.hpp"

#include <utility>
#include <vector>

namespace gateway::store::redis {

namespace {

// Keys per step. Each takes a few microseconds of the server's time.
constexpr std::string_view keys_per_step = "100";

// Longest waits for a connection and for an answer. No request waits for a walk.
constexpr base::duration connect_limit = std::chrono::seconds{1};
constexpr base::duration step_limit = std::chrono::seconds{5};

// Returns the limits as "name number,number,... name ...".
std::string words_of(const std::vector<named_limit>& limits)
{
    std::string words;
    std::vector<std::int64_t> numbers;
    for (const named_limit& l : limits) {
        numbers.clear();
        l.limit.append_numbers(numbers, base::unix_time());
        words += l.name + ' ';
        for (const std::int64_t number : numbers) {
            words += std::to_string(number) + ',';
        }
        words += ' ';
    }
    return words;
}

}  // namespace

rebasing::rebasing(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    const std::vector<named_limit>& limits
)
    : rate_walk(executor, std::move(name)),
      executor_(executor),
      options_(options),
      limits_(limits),
      connector_(std::in_place, executor, options, connect_limit),
      dialogue_(executor),
      tls_(options.tls)
{}

void rebasing::stop()
{
    connector_->cancel();
    dialogue_.close();
}

net::task<std::optional<failure>> rebasing::attempt()
{
    if (options_.cluster.empty()) {
        co_return co_await attempt_one(options_);
    }
    co_return co_await attempt_nodes();
}

// Walks over all nodes that have slots, according to the first node that answers.
net::task<std::optional<failure>> rebasing::attempt_nodes()
{
    map_answer known;
    for (std::size_t i = 0; i < options_.cluster.size() && !known.map && !cancelled(); ++i) {
        const redis_options asked = at_node(options_, options_.cluster[i]);
        connector_.emplace(executor_, asked, connect_limit);
        net::stream_socket socket = co_await connector_->connect();
        known.why = connector_->why();
        if (socket.is_open()) {
            dialogue_.begin(std::move(socket), tls_.connect(connector_->address()));
            known = co_await read_slots(dialogue_, asked, step_limit, connector_->address());
            dialogue_.close();
        }
    }
    if (!known.map) {
        co_return known.why;
    }
    std::optional<failure> why;
    for (std::size_t i = 0; i < known.map->nodes().size() && !why && !cancelled(); ++i) {
        const redis_options node = at_node(options_, known.map->nodes()[i]);
        connector_.emplace(executor_, node, connect_limit);
        why = co_await attempt_one(node);
    }
    co_return why;
}

net::task<std::optional<failure>> rebasing::attempt_one(const redis_options& server)
{
    net::stream_socket socket = co_await connector_->connect();
    if (!socket.is_open()) {
        co_return connector_->why();
    }
    dialogue_.begin(std::move(socket), tls_.connect(connector_->address()));
    std::optional<failure> why = co_await greet(server);
    if (!why) {
        connector_->accepted();
        why = co_await walk();
    }
    if (why == failure::readonly) {
        connector_->denied();
    }
    dialogue_.close();
    co_return why;
}

net::task<std::optional<failure>> rebasing::greet(const redis_options& server)
{
    greeting words{server};
    if (const auto why = co_await dialogue_.send(words.bytes(), step_limit)) {
        co_return why;
    }
    reply received;
    while (!words.done()) {
        if (const auto why = co_await dialogue_.read(received, step_limit)) {
            co_return why;
        }
        if (const auto refused = words.accept(received)) {
            co_return refused;
        }
    }
    co_return std::nullopt;
}

// Walks from the beginning, as the cursor of another walk means nothing to a server that has
// restarted.
net::task<std::optional<failure>> rebasing::walk()
{
    std::string cursor = "0";
    const std::string limits = words_of(limits_);
    const std::string epoch = epoch_key(options_.key_prefix);
    reply received;
    do {
        std::string command;
        std::vector<std::string_view> words{"EVAL", rebase_script, "0"};
        if (options_.cluster.empty()) {
            words.back() = "1";
            words.push_back(epoch);
        }
        words.insert(words.end(), {cursor, keys_per_step, options_.key_prefix, limits});
        encode(command, words);
        if (const auto why = co_await dialogue_.send(command, step_limit)) {
            co_return why;
        }
        if (const auto why = co_await dialogue_.read(received, step_limit)) {
            co_return why;
        }
        if (received.what != reply::kind::text) {
            const bool refused = received.what == reply::kind::error;
            co_return refused ? classify(received.text()).why : failure::protocol;
        }
        cursor = received.text();
    } while (cursor != "0");
    co_return std::nullopt;
}

}  // namespace gateway::store::redis
