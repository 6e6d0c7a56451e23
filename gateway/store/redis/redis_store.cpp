#include "gateway/store/redis/redis_store.hpp"

#include "gateway/store/redis/link.hpp"

#include <utility>

namespace gateway::store {

redis_store::redis_store(
    net::loop& l, std::string name, const redis_options& options, telemetry::store_metrics& metrics
)
    : link_(redis::link::start(l, std::move(name), options, metrics))
{}

redis_store::~redis_store()
{
    link_->close(conversation_state::pending_ones::abandon);
}

bool redis_store::recalls(std::span<const charge> charges, base::instant now, answer& into) const
{
    return link_->conversation().recalls(charges, now, into);
}

bool redis_store::take_leased(std::span<const charge> charges, answer& into)
{
    return link_->conversation().take_leased(charges, base::now(), into);
}

bool redis_store::settle_up()
{
    return link_->conversation().end_leases(base::now());
}

std::optional<failure> redis_store::ask(std::span<const charge> charges, question& q)
{
    return link_->conversation().ask(charges, q, base::now());
}

void redis_store::close()
{
    link_->close(conversation_state::pending_ones::fail);
}

void redis_store::retire()
{
    (void)settle_up();
    link_->retire();
}

bool redis_store::healthy() const
{
    return link_->conversation().healthy();
}

}  // namespace gateway::store
