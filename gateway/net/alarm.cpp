#include "gateway/net/alarm.hpp"

#include <utility>

namespace gateway::net {

alarm::alarm(const executor& ex, std::function<void()> ring)
    : timer_(ex), state_(std::make_shared<state>(state{.ring = std::move(ring)}))
{}

alarm::~alarm()
{
    cancel();
}

void alarm::set(base::instant at)
{
    timer_.expires_at(at);
    wait();
}

void alarm::set(base::duration from_now)
{
    timer_.expires_after(from_now);
    wait();
}

void alarm::cancel()
{
    ++state_->number;
    timer_.cancel();
}

void alarm::wait()
{
    timer_.async_wait([s = state_, mine = ++state_->number](const boost::system::error_code& ec) {
        if (!ec && s->number == mine) {
            s->ring();
        }
    });
}

}  // namespace gateway::net
