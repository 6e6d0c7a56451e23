#include "gateway/net/loop.hpp"

namespace gateway::net {

// UNSAFE_IO spares the locks on descriptors, as one thread does all I/O of this context. Posting
// from another thread stays safe.
loop::loop()
    : context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      data_(context_, clock_),
      wheel_(refresh_now(), tick, wheel_slots),
      ticker_(context_)
{
    schedule_tick();
}

void loop::run()
{
    context_.run();
}

void loop::stop()
{
    ticking_ = false;
    ticker_.cancel();
    data_.close();
}

void loop::schedule_tick()
{
    ticker_.expires_after(tick);
    ticker_.async_wait([this](const boost::system::error_code&) {
        if (!ticking_) {
            return;
        }
        wheel_.advance(refresh_now());
        if (tick_action_) {
            tick_action_(now());
        }
        schedule_tick();
    });
}

}  // namespace gateway::net
