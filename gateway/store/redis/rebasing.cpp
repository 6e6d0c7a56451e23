#include "gateway/store/redis/rebasing.hpp"

#include "gateway/store/redis/command.hpp"
#include "gateway/store/redis/greeting.hpp"
#include "gateway/store/redis/scripts.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
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

// Nobody waits for a walk.
constexpr base::duration connect_limit = std::chrono::seconds{1};
constexpr base::duration step_limit = std::chrono::seconds{5};
constexpr base::duration rest_after_failure = std::chrono::seconds{1};

// "name number,number,... name ..."
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

std::shared_ptr<rebasing> rebasing::start(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    const std::vector<named_limit>& limits
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
    const std::vector<named_limit>& limits
)
    : name_(std::move(name)),
      options_(options),
      limits_(limits),
      connector_(net::connector::make(
          executor, {options.host, options.port, options.socket_path}, connect_limit
      )),
      socket_(executor),
      timer_(executor)
{}

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
    co_await net::pause(self->timer_, options_.timeout + adoption);
    std::optional<failure> told;
    while (!cancelled_) {
        const std::optional<failure> why = co_await attempt();
        if (cancelled_) {
            break;
        }
        if (!why || told != why) {
            report(why);
            told = why;
        }
        if (!why) {
            ended_ = true;
            connector_->cancel();  // its name is not asked for any more
            break;
        }
        co_await net::pause(timer_, rest_after_failure);
    }
}

net::task<std::optional<failure>> rebasing::attempt()
{
    socket_ = co_await connector_->connect();
    if (!socket_.is_open()) {
        co_return connector_->timed_out() ? failure::timeout : failure::unreachable;
    }
    boost::system::error_code ignored;
    socket_.set_option(
        asio::ip::tcp::no_delay{true}, ignored
    );  // a Unix socket knows no such option
    reader_.reset();
    tls_.reset();
    if (options_.tls) {
        tls_.emplace(*options_.tls, options_.host);
    }
    std::optional<failure> why = co_await greet();
    if (!why) {
        why = co_await walk();
    }
    ++step_;
    timer_.cancel();
    socket_.close(ignored);
    co_return why;
}

net::task<std::optional<failure>> rebasing::greet()
{
    greeting words{options_};
    if (const auto why = co_await send(words.bytes())) {
        co_return why;
    }
    reply said;
    while (!words.done()) {
        if (const auto why = co_await read(said)) {
            co_return why;
        }
        if (const auto refused = words.accept(said)) {
            co_return refused;
        }
    }
    co_return std::nullopt;
}

// From the beginning: where another walk stood means nothing to a server that has restarted.
net::task<std::optional<failure>> rebasing::walk()
{
    std::string cursor = "0";
    const std::string limits = words_of(limits_);
    reply said;
    do {
        std::string command;
        const std::array<std::string_view, 7> words{
            "EVAL", rebase_script, "0", cursor, keys_per_step, options_.key_prefix, limits};
        encode(command, words);
        if (const auto why = co_await send(command)) {
            co_return why;
        }
        if (const auto why = co_await read(said)) {
            co_return why;
        }
        if (said.what != reply::kind::text) {
            const bool refused = said.what == reply::kind::error;
            co_return refused ? classify(said.text()).why : failure::protocol;
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

net::task<std::optional<failure>> rebasing::send(const std::string& commands)
{
    limit_step();
    if (!tls_) {
        co_return co_await send_bytes(commands);
    }
    tls_->send(commands);
    co_return co_await send_bytes(tls_->take_output());
}

net::task<std::optional<failure>> rebasing::send_bytes(const std::string& bytes)
{
    if (bytes.empty()) {
        co_return std::nullopt;  // TLS has nothing to say
    }
    const auto [unsent, sent] =
        co_await asio::async_write(socket_, asio::buffer(bytes), net::use_task);
    co_return unsent ? std::optional{failure::unreachable} : std::nullopt;
}

// The next reply to what was sent.
net::task<std::optional<failure>> rebasing::read(reply& into)
{
    std::array<char, 512> bytes;
    std::string words;
    auto next = reader_.read(into);
    while (next == reply_reader::next::nothing) {
        const auto [ended, count] =
            co_await socket_.async_read_some(asio::buffer(bytes), net::use_task);
        if (ended) {
            co_return failure::unreachable;
        }
        words.assign(bytes.data(), count);
        if (tls_) {
            words.clear();
            if (!tls_->receive(std::span{bytes}.first(count), words)) {
                co_return failure::config;
            }
            if (const auto why = co_await send_bytes(tls_->take_output())) {
                co_return why;
            }
        }
        reader_.feed(words);
        next = reader_.read(into);
    }
    co_return next == reply_reader::next::reply ? std::nullopt : std::optional{failure::protocol};
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
