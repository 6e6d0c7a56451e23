#include "gateway/net/connector.hpp"

#include <utility>
#include <vector>

namespace gateway::net {

std::shared_ptr<connector> connector::make(
    const executor& ex, const server_address& to, base::duration limit
)
{
    auto made = std::make_shared<connector>(ex, to, limit);
    made->self_ = made;
    return made;
}

connector::connector(const executor& ex, const server_address& to, base::duration limit)
    : executor_(ex), server_(to), limit_(limit), name_(ex, to, limit), limit_timer_(ex), socket_(ex)
{}

void connector::cancel()
{
    cancelled_ = true;
    end_limit();
    boost::system::error_code ignored;
    socket_.close(ignored);
    name_.stop();
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
    begin_limit();
    const bool connected = co_await connect_to_one();
    end_limit();
    if (!connected || expired_ || cancelled_) {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }
    co_return std::exchange(socket_, stream_socket{executor_});
}

void connector::begin_limit()
{
    limit_timer_.expires_after(limit_);
    auto expire = [self = self_.lock(), mine = ++attempt_](const boost::system::error_code& ec) {
        if (!ec && self->attempt_ == mine) {
            self->expired_ = true;
            boost::system::error_code ignored;
            self->socket_.close(ignored);
        }
    };
    limit_timer_.async_wait(std::move(expire));
}

void connector::end_limit()
{
    ++attempt_;
    limit_timer_.cancel();
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
