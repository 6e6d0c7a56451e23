#include "gateway/store/remote/link.hpp"

#include "gateway/net/reported.hpp"

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace gateway::store {

link::link(
    const net::executor& executor,
    const conversation_options& options,
    telemetry::store_metrics& metrics
)
    : run_timer_(executor),
      executor_(executor),
      wakes_(executor, conversation_, [this] { receive(); }),
      random_(std::random_device{}()),
      conversation_(*this, options, metrics, std::random_device{}())
{}

void link::run(const std::shared_ptr<link>& owned, std::string server)
{
    self_ = owned;
    boost::asio::co_spawn(
        executor_, keep_up(owned), net::reported("the connection to " + std::move(server))
    );
}

net::task<> link::keep_up(std::shared_ptr<link> self)
{
    link_state& state = self->conversation_.link();
    while (!state.closed()) {
        state.connecting();
        const base::instant began = base::now();
        co_await connect();
        const base::duration spent = state.ready() ? base::duration{0} : base::now() - began;
        while (state.ready()) {
            co_await net::pause(run_timer_, net::for_ever);
        }
        co_await rest(spent);
    }
}

// Rests before the next attempt. A hint cuts the rest short, but not to nothing, as all workers get
// it at the same time.
net::task<> link::rest(base::duration spent)
{
    const link_state& state = conversation_.link();
    for (hinted_ = true; hinted_ && !state.closed();) {
        hinted_ = false;
        co_await net::pause(run_timer_, state.rest(chance(), spent));
    }
}

void link::hint()
{
    hinted_ = true;
    conversation_.link().hinted();
    if (conversation_.link().now_in() == link_state::phase::resting) {
        run_timer_.cancel();
    }
}

void link::hang_up()
{
    disconnect();
    run_timer_.cancel();
}

void link::lost(failure why)
{
    hang_up();
    conversation_.lost(why, base::now());
}

void link::close(conversation_state::pending_ones what)
{
    if (!conversation_.link().closed()) {
        retire();  // closing says nothing about the store
        hang_up();
        cancel();
        wakes_.cancel();
    }
    conversation_.close(what);
}

void link::wake_at(base::instant at)
{
    wakes_.at(at, self());
}

void link::wake_after_turn()
{
    wakes_.after_turn(self());
}

}  // namespace gateway::store
