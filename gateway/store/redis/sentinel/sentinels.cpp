#include "gateway/store/redis/sentinel/sentinels.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

std::shared_ptr<sentinels> sentinels::make(
    const net::executor& executor, const redis_options& options, base::duration limit
)
{
    auto made = std::make_shared<sentinels>(executor, options, limit);
    made->self_ = made;
    return made;
}

sentinels::sentinels(
    const net::executor& executor, const redis_options& options, base::duration limit
)
    : executor_(executor), options_(*options.sentinel), limit_(limit), wait_(executor)
{
    for (const net::server_address& address : options_.sentinels) {
        all_.emplace_back(executor, address, options, limit);
    }
}

void sentinels::cancel()
{
    cancelled_ = true;
    for (sentinel& one : all_) {
        one.connector.cancel();
        one.words.close();
    }
    wait_.cancel();
}

net::task<naming> sentinels::ask(with_replicas replicas)
{
    replicas_ = replicas;
    answers_.assign(all_.size(), std::nullopt);
    if (cancelled_) {
        co_return masters_named(options_, answers_);
    }
    until_ = base::now() + 2 * limit_;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (!std::exchange(all_[i].busy, true)) {
            asio::co_spawn(executor_, ask_one(self_.lock(), i), asio::detached);
        }
    }
    while (!cancelled_ && !all_answered() && base::now() < until_) {
        wait_.expires_at(until_);
        co_await wait_.async_wait(net::use_task);
    }
    co_return masters_named(options_, answers_);
}

net::task<> sentinels::ask_one(std::shared_ptr<sentinels> self, std::size_t index)
{
    sentinel& one = self->all_[index];
    sentinel_answer answer = co_await answer_of(one);
    one.words.close();
    one.busy = false;
    heard(index, std::move(answer));
}

net::task<sentinel_answer> sentinels::answer_of(sentinel& one)
{
    net::stream_socket socket = co_await one.connector.connect();
    if (!socket.is_open()) {
        const bool late = one.connector.timed_out();
        co_return sentinel_answer{
            .master = {},
            .why = late ? failure::timeout : failure::unreachable,
            .detail = late ? "silent" : one.connector.detail()};
    }
    one.words.begin(std::move(socket), one.tls.connect(one.connector.address()));
    const std::string query = encode_master_query(options_);
    std::optional<failure> why = co_await one.words.send(query, limit_);
    master_answer replies{options_};
    reply next;
    while (!why && !replies.done()) {
        why = co_await one.words.read(next, limit_);
        if (!why) {
            replies.accept(next);
        }
    }
    if (why) {
        co_return sentinel_answer{.master = {}, .why = *why, .detail = one.words.describe(*why)};
    }
    sentinel_answer answer = replies.answer();
    if (answer.master && replicas_ == with_replicas::yes) {
        answer.replicas = co_await replicas_of(one);
    }
    co_return answer;
}

// Returns the replicas that the sentinel knows, or none if it does not answer.
net::task<std::vector<net::server_address>> sentinels::replicas_of(sentinel& one)
{
    tree replicas;
    std::optional<failure> why = co_await one.words.send(encode_replicas_query(options_), limit_);
    if (!why) {
        why = co_await one.words.read(replicas, limit_);
    }
    co_return why ? std::vector<net::server_address>{} : replicas_in(*replicas);
}

// Notes an answer. The first one to name a master sets the end for the others.
void sentinels::heard(std::size_t index, sentinel_answer answer)
{
    if (answer.master) {
        until_ = std::min(until_, base::now() + patience);
    }
    answers_[index] = std::move(answer);
    wait_.cancel();
}

bool sentinels::all_answered() const
{
    return std::all_of(answers_.begin(), answers_.end(), [](const auto& answer) {
        return answer.has_value();
    });
}

}  // namespace gateway::store::redis
