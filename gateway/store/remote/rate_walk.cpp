#include "gateway/store/remote/rate_walk.hpp"

#include "gateway/net/reported.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace gateway::store {

namespace {

// Time beyond a question's timeout in which every worker has surely noticed the reload.
constexpr base::duration adoption = std::chrono::milliseconds{100};

constexpr base::duration rest_after_failure = std::chrono::seconds{1};

}  // namespace

rate_walk::rate_walk(const net::executor& executor, std::string name)
    : name_(std::move(name)), timer_(executor)
{}

void rate_walk::start(const std::shared_ptr<rate_walk>& walk, base::duration timeout)
{
    boost::asio::co_spawn(
        walk->timer_.get_executor(),
        walk->run(walk, timeout),
        net::reported("store " + walk->name_ + ": what brings its buckets to new rates")
    );
}

void rate_walk::cancel()
{
    cancelled_ = true;
    timer_.cancel();
    stop();
}

net::task<> rate_walk::run(std::shared_ptr<rate_walk> self, base::duration timeout)
{
    co_await net::pause(self->timer_, timeout + adoption);
    std::optional<failure> reported;
    while (!cancelled_) {
        const std::optional<failure> why = co_await attempt();
        if (cancelled_) {
            break;
        }
        if (!why || reported != why) {
            report(why);
            reported = why;
        }
        if (!why) {
            ended_ = true;
            stop();
            break;
        }
        co_await net::pause(timer_, rest_after_failure);
    }
}

void rate_walk::report(std::optional<failure> why) const
{
    const std::string store = "store " + name_ + ": ";
    if (!why) {
        telemetry::log(telemetry::log_level::info, store + "all buckets follow the changed rates");
        return;
    }
    telemetry::log(
        telemetry::log_level::warning,
        store + "cannot have all buckets follow the changed rates yet: " +
            std::string{failure_names[static_cast<std::size_t>(*why)]}
    );
}

}  // namespace gateway::store
