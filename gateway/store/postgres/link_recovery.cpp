#include "gateway/net/reported.hpp"
#include "gateway/store/postgres/link.hpp"
#include "gateway/store/postgres/schema.hpp"

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace gateway::store::postgres {

namespace asio = boost::asio;

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
    : options_(options),
      group_(std::move(group)),
      session_(l.get_executor(), options, stage_limit(options.timeout)),
      statements_(max_statements),
      repeat_timer_(l.get_executor()),
      wakes_(l.get_executor(), conversation_, [this] { receive(); }),
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
        const base::instant began = base::now();
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
        const base::duration spent = state.ready() ? base::duration{0} : base::now() - began;
        while (state.ready()) {
            co_await net::pause(run_timer_, net::for_ever);
        }
        if (!state.closed()) {
            const double chance = std::uniform_real_distribution<double>{0, 1}(random_);
            co_await net::pause(run_timer_, state.rest(chance, spent));
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
    for (const std::string_view first : {prepared_statements(), rehearsal()}) {
        if (!session_.is_pooled() && !co_await session_.ask(std::string{first})) {
            co_return session_.last_trouble();
        }
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
    if (why.is_pooled) {
        session_.treat_as_pooled();
    }
    hang_up();
    conversation_.lost(why.why, base::now());
}

void link::close(conversation_state::pending_ones what)
{
    if (!conversation_.link().closed()) {
        hang_up();
        session_.cancel();
        wakes_.cancel();
    }
    conversation_.close(what);
}

void link::wake_at(base::instant at)
{
    wakes_.at(at, self_.lock());
}

void link::wake_after_turn()
{
    wakes_.after_turn(self_.lock());
}

void link::report(std::optional<failure> why)
{
    group_->tell(why, session_.address());
}

void link::found_corrupt(std::span<const pending_question> asked)
{
    group_->found_corrupt(asked, options_.key_prefix);
}

}  // namespace gateway::store::postgres
