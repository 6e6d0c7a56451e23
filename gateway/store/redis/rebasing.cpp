#include "gateway/store/redis/rebasing.hpp"

#include "gateway/store/redis/command.hpp"
#include "gateway/store/redis/scripts.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

namespace {

// Keys per step: a few microseconds of the server's time each.
constexpr std::string_view keys_per_step = "100";

// Beyond a question's timeout: in which every worker has surely noticed the reload.
constexpr base::duration adoption = std::chrono::milliseconds{100};

constexpr base::duration step_limit = std::chrono::seconds{5};
constexpr base::duration rest_after_failure = std::chrono::seconds{1};

}  // namespace

std::shared_ptr<rebasing> rebasing::start(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    const std::vector<limit_terms>& limits
)
{
    auto made = std::make_shared<rebasing>(executor, std::move(name), options, limits);
    made->self_ = made;
    asio::co_spawn(executor, made->run(made), asio::detached);
    return made;
}

rebasing::rebasing(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    const std::vector<limit_terms>& limits
)
    : name_(std::move(name)),
      options_(options),
      connector_(connector::make(executor, options)),
      socket_(executor),
      timer_(executor)
{
    for (const limit_terms& l : limits) {
        limits_ += l.name + ' ';
        for (const std::int64_t number : l.microseconds.numbers()) {
            limits_ += std::to_string(number) + ' ';
        }
    }
}

void rebasing::cancel()
{
    cancelled_ = true;
    connector_->cancel();
    timer_.cancel();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

net::task<> rebasing::run(std::shared_ptr<rebasing> self)
{
    co_await self->rest(options_.timeout + adoption);
    std::optional<failure> told;
    while (!cancelled_) {
        link_state state;
        state.connecting();
        std::optional<failure> why = co_await connector_->establish(state);
        if (!why && !cancelled_) {
            socket_ = connector_->take_socket();
            why = co_await walk();
            boost::system::error_code ignored;
            socket_.close(ignored);
        }
        if (cancelled_) {
            break;
        }
        if (!why || told != why) {
            report(why);
            told = why;
        }
        if (!why) {
            ended_ = true;
            break;
        }
        co_await rest(rest_after_failure);
    }
}

// From the beginning: where another walk stood means nothing to a server that has restarted.
net::task<std::optional<failure>> rebasing::walk()
{
    reader_.reset();
    std::string cursor = "0";
    do {
        std::string command;
        const std::array<std::string_view, 7> words{
            "EVAL", rebase_script, "0", cursor, keys_per_step, options_.key_prefix, limits_};
        encode(command, words);
        reply said;
        if (const auto why = co_await ask(command, said)) {
            co_return why;
        }
        cursor = said.text();
    } while (cursor != "0");
    co_return std::nullopt;
}

void rebasing::limit_step()
{
    timer_.expires_after(step_limit);
    timer_.async_wait([self = self_.lock(), step = ++step_](const boost::system::error_code& ec) {
        if (!ec && self->step_ == step) {
            boost::system::error_code ignored;
            self->socket_.close(ignored);
        }
    });
}

net::task<std::optional<failure>> rebasing::ask(const std::string& command, reply& into)
{
    limit_step();
    const auto [unsent, sent] =
        co_await asio::async_write(socket_, asio::buffer(command), net::use_task);
    auto next = reply_reader::next::nothing;
    std::array<char, 512> bytes;
    while (!unsent && next == reply_reader::next::nothing) {
        const auto [ended, count] =
            co_await socket_.async_read_some(asio::buffer(bytes), net::use_task);
        if (ended) {
            break;
        }
        reader_.feed(std::span{bytes}.first(count));
        next = reader_.read(into);
    }
    ++step_;
    timer_.cancel();
    if (next == reply_reader::next::nothing) {
        co_return failure::unreachable;
    }
    if (next == reply_reader::next::reply && into.what == reply::kind::error) {
        co_return classify(into.text()).why;
    }
    const bool good = next == reply_reader::next::reply && into.what == reply::kind::text;
    co_return good ? std::nullopt : std::optional{failure::protocol};
}

net::task<> rebasing::rest(base::duration time)
{
    timer_.expires_after(time);
    co_await timer_.async_wait(net::use_task);
}

void rebasing::report(std::optional<failure> why) const
{
    if (!why) {
        telemetry::log(
            telemetry::log_level::info, "store " + name_ + ": all buckets follow the changed rates"
        );
        return;
    }
    const auto reason = std::string{failure_names[static_cast<std::size_t>(*why)]};
    telemetry::log(
        telemetry::log_level::warning,
        "store " + name_ + ": cannot have all buckets follow the changed rates yet: " + reason
    );
}

}  // namespace gateway::store::redis
