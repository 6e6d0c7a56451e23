#include "gateway/store/postgres/postgres_store.hpp"

#include "gateway/store/postgres/link.hpp"

namespace gateway::store {

postgres_store::postgres_store(
    net::loop& l,
    const std::string& name,
    const postgres_options& options,
    telemetry::store_metrics& metrics
)
    : group_(std::make_shared<postgres::link_group>(name, metrics))
{
    for (std::size_t i = 0; i < options.connections; ++i) {
        links_.push_back(postgres::link::start(l, group_, options, metrics));
    }
}

postgres_store::~postgres_store()
{
    retire();  // that we go says nothing of the store
    for (const auto& link : links_) {
        link->close(conversation_state::pending_ones::abandon);
    }
}

postgres::link& postgres_store::link_for(std::span<const charge> charges) const
{
    return *links_[charges.front().bucket_name.hash().low % links_.size()];
}

bool postgres_store::recalls(std::span<const charge> charges, base::instant now, answer& into) const
{
    return link_for(charges).conversation().recalls(charges, now, into);
}

bool postgres_store::take_leased(std::span<const charge> charges, answer& into)
{
    return link_for(charges).conversation().take_leased(charges, base::now(), into);
}

bool postgres_store::settle_up()
{
    bool all = true;
    for (const auto& link : links_) {
        all = link->conversation().end_leases(base::now()) && all;
    }
    return all;
}

std::optional<failure> postgres_store::ask(std::span<const charge> charges, question& q)
{
    return link_for(charges).conversation().ask(charges, q, base::now());
}

void postgres_store::close()
{
    retire();
    for (const auto& link : links_) {
        link->close(conversation_state::pending_ones::fail);
    }
}

void postgres_store::retire()
{
    (void)settle_up();
    group_->retire();
}

bool postgres_store::healthy() const
{
    return group_->healthy();
}

}  // namespace gateway::store
