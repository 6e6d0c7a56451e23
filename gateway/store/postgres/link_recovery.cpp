#include "gateway/net/reported.hpp"
#include "gateway/store/postgres/link.hpp"
#include "gateway/store/postgres/schema.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::store::postgres {

namespace asio = boost::asio;

namespace {

// Connecting and greeting get the store's timeout each, but within these: less would not survive a
// lost packet, more would make recovery take over a second.
constexpr base::duration least_stage = std::chrono::milliseconds{250};
constexpr base::duration most_stage = std::chrono::milliseconds{400};

base::duration stage_limit(const postgres_options& options)
{
    return std::clamp(options.timeout, least_stage, most_stage);
}

}  // namespace

std::shared_ptr<link> link::start(
    net::loop& l,
    std::shared_ptr<link_group> group,
    const postgres_options& options,
    telemetry::store_metrics& metrics
)
{
    auto made = std::make_shared<link>(l, std::move(group), options, metrics);
    made->self_ = made;
    asio::co_spawn(
        l.get_executor(),
        made->run(made),
        net::reported("the connection to " + made->session_.address())
    );
    return made;
}

link::link(
    net::loop& l,
    std::shared_ptr<link_group> group,
    const postgres_options& options,
    telemetry::store_metrics& metrics
)
    : loop_(l),
      options_(options),
      group_(std::move(group)),
      session_(l.get_executor(), options, stage_limit(options)),
      statements_(max_statements),
      repeat_timer_(l.get_executor()),
      wake_timer_(l.get_executor()),
      run_timer_(l.get_executor()),
      random_(std::random_device{}()),
      conversation_(*this, options, metrics, std::random_device{}())
{
    group_->add(conversation_);
}

net::task<> link::run(std::shared_ptr<link> self)
{
    link_state& state = self->conversation_.link();
    while (!state.closed()) {
        state.connecting();
        const std::optional<trouble> why = co_await open();
        if (state.closed()) {
            break;
        }
        if (why) {
            lose(*why);
        } else {
            watch();
            conversation_.ready(base::now());
        }
        while (state.ready()) {
            co_await net::pause(run_timer_, net::for_ever);
        }
        if (!state.closed()) {
            const double chance = std::uniform_real_distribution<double>{0, 1}(random_);
            co_await net::pause(run_timer_, state.rest(chance));
        }
    }
}

// Nothing: connected to a server that has our functions.
net::task<std::optional<trouble>> link::open()
{
    if (!co_await session_.open()) {
        co_return session_.last_trouble();
    }
    conversation_.link().connected();
    if (const std::optional<trouble> why = co_await check_schema(session_)) {
        co_return why;
    }
    if (PQenterPipelineMode(session_.connection()) != 1) {
        co_return trouble{};
    }
    co_return std::nullopt;
}

void link::hang_up()
{
    ++era_;
    session_.close();
    while (!statements_.empty()) {
        statements_.pop();
    }
    repeated_.clear();
    repeat_timer_.cancel();
    writing_ = false;
    run_timer_.cancel();
}

void link::lose(const trouble& why)
{
    group_->note(why.why, why.words);
    hang_up();
    conversation_.lost(why.why, base::now());
}

void link::close(conversation_state::pending_ones what)
{
    if (!conversation_.link().closed()) {
        hang_up();
        session_.cancel();
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
    asio::post(loop_.get_executor(), std::move(end));
}

void link::report(std::optional<failure> why)
{
    group_->tell(why, session_.address());
}

}  // namespace gateway::store::postgres
