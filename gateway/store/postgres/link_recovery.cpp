#include "gateway/store/postgres/link.hpp"
#include "gateway/store/postgres/schema.hpp"

#include <utility>

namespace gateway::store::postgres {

std::shared_ptr<link> link::start(
    net::loop& l,
    std::shared_ptr<link_group> group,
    const postgres_options& options,
    telemetry::store_metrics& metrics
)
{
    auto made = std::make_shared<link>(l, std::move(group), options, metrics);
    made->run(made, made->session_.address());
    return made;
}

link::link(
    net::loop& l,
    std::shared_ptr<link_group> group,
    const postgres_options& options,
    telemetry::store_metrics& metrics
)
    : store::link(l.get_executor(), options, metrics),
      options_(options),
      group_(std::move(group)),
      session_(l.get_executor(), options, stage_limit(options.timeout)),
      statements_(max_statements),
      repeat_timer_(l.get_executor())
{
    group_->add(conversation());
}

net::task<> link::connect()
{
    const std::optional<trouble> why = co_await open();
    if (conversation().link().closed()) {
        co_return;
    }
    if (why) {
        lose(*why);
        co_return;
    }
    watch();
    conversation().ready(base::now());
}

// Connects to a server that has the schema's functions. Returns nothing, or what is wrong.
net::task<std::optional<trouble>> link::open()
{
    if (!co_await session_.open()) {
        co_return session_.last_trouble();
    }
    conversation().link().connected();
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

void link::disconnect()
{
    ++era_;
    session_.close();
    while (!statements_.empty()) {
        statements_.pop();
    }
    repeated_.clear();
    repeat_timer_.cancel();
    writing_ = false;
}

void link::lose(const trouble& why)
{
    group_->note(why.why, why.words);
    if (why.is_pooled) {
        session_.treat_as_pooled();
    }
    lost(why.why);
}

void link::report(std::optional<failure> why)
{
    group_->report(why, session_.address());
}

void link::found_corrupt(std::span<const pending_question> asked)
{
    group_->found_corrupt(asked, options_.key_prefix);
}

}  // namespace gateway::store::postgres
