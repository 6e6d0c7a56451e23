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
    const auto known = name_.endpoints();  // of which there may be others meanwhile
    const std::vector<resolved_name::endpoint> candidates(known.begin(), known.end());
    for (std::size_t i = 0; i < candidates.size() && !expired_ && !cancelled_; ++i) {
        const auto& to = candidates[(preferred_ + i) % candidates.size()];
        socket_ = stream_socket{executor_};
        const auto [failed] = co_await socket_.async_connect(to, use_task);
        if (!failed && !expired_) {
            preferred_ += i;
            co_return true;
        }
        if (&to == &candidates.front() && !expired_) {  // of several always the same one's
            detail_ = failed.message();
        }
    }
    ++preferred_;  // an address that swallows connections does not do so at every attempt
    co_return false;
}

}  // namespace gateway::net
