#include "gateway/net/connector.hpp"

#include <utility>
#include <vector>

namespace gateway::net {

connector::connector(const executor& ex, const server_address& to, base::duration limit)
    : executor_(ex),
      server_(to),
      limit_(limit),
      name_(ex, to, limit),
      socket_(ex),
      too_long_(ex, [this] {
          expired_ = true;
          close();
      })
{}

void connector::cancel()
{
    cancelled_ = true;
    too_long_.cancel();
    close();
    name_.stop();
}

void connector::close()
{
    boost::system::error_code ignored;
    socket_.close(ignored);
}

task<stream_socket> connector::connect()
{
    detail_.clear();
    expired_ = false;
    co_await name_.look_up();
    if (cancelled_ || name_.endpoints().empty()) {
        detail_ = name_.error();
        co_return stream_socket{executor_};
    }
    too_long_.set(limit_);
    const bool connected = co_await connect_to_one();
    too_long_.cancel();
    if (!connected || expired_ || cancelled_) {
        close();
    }
    co_return std::exchange(socket_, stream_socket{executor_});
}

task<bool> connector::connect_to_one()
{
    // The candidates are a copy, as the addresses may change in the meantime.
    const auto known = name_.endpoints();
    const std::vector<resolved_name::endpoint> candidates(known.begin(), known.end());
    for (std::size_t i = 0; i < candidates.size() && !expired_ && !cancelled_; ++i) {
        const auto& to = candidates[(preferred_ + i) % candidates.size()];
        socket_ = stream_socket{executor_};
        const auto [failed] = co_await socket_.async_connect(to, use_task);
        if (!failed && !expired_) {
            preferred_ += i;
            co_return true;
        }
        // The error is always that of the first candidate, even if there are several.
        if (&to == &candidates.front() && !expired_) {
            detail_ = failed.message();
        }
    }
    // The next attempt begins with another address, as this one may swallow connections.
    ++preferred_;
    co_return false;
}

}  // namespace gateway::net
