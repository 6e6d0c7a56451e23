#include "gateway/worker_group.hpp"

#include "gateway/telemetry/log.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway {

worker_group::worker_group(boost::asio::io_context& control, worker::shared_state& shared)
    : control_(control),
      shared_(shared),
      drain_timeout_(control.get_executor(), [this] { abort(); })
{}

void worker_group::make(
    const worker::snapshot& first,
    const std::vector<client::listener_options>& listeners,
    std::vector<std::vector<worker::opened_listener>> listening
)
{
    for (std::size_t i = 0; i < listening.size(); ++i) {
        workers_.emplace_back(shared_, i, first, listeners, std::move(listening[i]));
    }
}

void worker_group::start(std::function<void()> ended)
{
    ended_ = std::move(ended);
    running_ = workers_.size();
    for (worker::worker& w : workers_) {
        w.start([this] { boost::asio::post(control_, [this] { one_ended(); }); });
    }
}

void worker_group::reload(const std::shared_ptr<const worker::snapshot>& s)
{
    for (worker::worker& w : workers_) {
        w.reload(s);
    }
}

void worker_group::stop_waiting_for_keys()
{
    for (worker::worker& w : workers_) {
        w.stop_waiting_for_keys();
    }
}

void worker_group::drain(net::queued rest, base::duration timeout)
{
    for (worker::worker& w : workers_) {
        w.drain(rest);
    }
    drain_timeout_.set(timeout);
}

void worker_group::abort()
{
    telemetry::log(telemetry::log_level::warning, "drain_timeout has passed: closing what is left");
    for (worker::worker& w : workers_) {
        w.abort();
    }
}

std::vector<worker::worker*> worker_group::all()
{
    std::vector<worker::worker*> all;
    for (worker::worker& w : workers_) {
        all.push_back(&w);
    }
    return all;
}

void worker_group::one_ended()
{
    if (--running_ == 0) {
        drain_timeout_.cancel();
        ended_();
    }
}

}  // namespace gateway
