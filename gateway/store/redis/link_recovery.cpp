#include "gateway/store/redis/link.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::store::redis {

namespace asio = boost::asio;

std::shared_ptr<link> link::start(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics
)
{
    auto made = std::make_shared<link>(executor, std::move(name), options, metrics);
    made->self_ = made;
    asio::co_spawn(executor, made->run(made), asio::detached);
    return made;
}

link::link(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics
)
    : executor_(executor),
      options_(options),
      health_(std::move(name), metrics),
      connector_(connector::make(executor, options)),
      socket_(executor),
      commands_(max_commands),
      wake_timer_(executor),
      rest_timer_(executor),
      random_(std::random_device{}()),
      conversation_(*this, options, metrics, std::random_device{}())
{}

net::task<> link::run(std::shared_ptr<link> self)
{
    link_state& state = self->conversation_.link();
    while (!state.closed()) {
        state.connecting();
        if (const auto why = co_await connector_->establish(state)) {
            health_.note(*why, connector_->detail());
            conversation_.lost(*why, base::now());
        } else if (!state.closed()) {
            begin();
        }
        while (state.ready()) {
            rest_timer_.expires_at(base::instant::max());  // until hang_up() cancels it
            co_await rest_timer_.async_wait(net::use_task);
        }
        if (!state.closed()) {
            rest_timer_.expires_after(state.rest(std::uniform_real_distribution<double>{
                0, 1}(random_)));
            co_await rest_timer_.async_wait(net::use_task);
        }
    }
}

void link::begin()
{
    socket_ = connector_->take_socket();
    ++generation_;
    reader_.reset();
    read_later();
    conversation_.ready(base::now());
}

void link::hang_up()
{
    ++generation_;
    boost::system::error_code ignored;
    socket_.close(ignored);
    while (!commands_.empty()) {
        commands_.pop();
    }
    outgoing_.clear();
    sent_ = 0;
    awaiting_writable_ = false;
    script_on_its_way_ = false;
    rest_timer_.cancel();
}

void link::lose(failure why, std::string words)
{
    health_.note(why, std::move(words));
    hang_up();
    conversation_.lost(why, base::now());
}

void link::close(conversation_state::pending_ones what)
{
    if (!conversation_.link().closed()) {
        retire();  // that we go says nothing of the store
        hang_up();
        connector_->cancel();
        wake_timer_.cancel();
    }
    conversation_.close(what);
}

// One timer for all deadlines, moved only when an earlier one comes: as they usually come in
// order, it is touched once per timeout, not once per question.
void link::wake_at(base::instant at)
{
    wake_timer_.expires_at(at);
    auto wake = [self = self_.lock()](const boost::system::error_code& ec) {
        if (ec || self->conversation_.link().closed()) {
            return;
        }
        // An answer that is here is in time, if only this loop was too busy to read it.
        if (self->conversation_.link().ready()) {
            self->receive();
        }
        self->conversation_.passed(base::now());
    };
    wake_timer_.async_wait(std::move(wake));
}

void link::wake_after_turn()
{
    if (std::exchange(turn_end_posted_, true)) {
        return;
    }
    auto end = [self = self_.lock()] {
        self->turn_end_posted_ = false;
        self->conversation_.turn_ended(base::now());
    };
    asio::post(executor_, std::move(end));
}

void link::report(std::optional<failure> why)
{
    health_.tell(why, connector_->address(), conversation_.healthy(), conversation_.breaker_open());
}

}  // namespace gateway::store::redis
