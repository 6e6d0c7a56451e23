#include "gateway/store/remote/linked_store.hpp"

#include <algorithm>
#include <utility>

namespace gateway::store {

linked_store::linked_store(std::vector<std::shared_ptr<link>> links) : links_(std::move(links)) {}

linked_store::~linked_store()
{
    close_links(conversation_state::pending_ones::abandon);
}

conversation_state& linked_store::conversation_about(std::span<const charge> charges) const
{
    return links_[charges.front().bucket_name.hash().low % links_.size()]->conversation();
}

bool linked_store::recalls(std::span<const charge> charges, base::instant now, answer& into) const
{
    return conversation_about(charges).recalls(charges, now, into);
}

bool linked_store::take_leased(std::span<const charge> charges, answer& into)
{
    return conversation_about(charges).take_leased(charges, base::now(), into);
}

bool linked_store::settle_up()
{
    bool all = true;
    for (const auto& each : links_) {
        all = each->conversation().end_leases(base::now()) && all;
    }
    return all;
}

std::optional<failure> linked_store::ask(std::span<const charge> charges, question& q)
{
    return conversation_about(charges).ask(charges, q, base::now());
}

void linked_store::close()
{
    close_links(conversation_state::pending_ones::fail);
}

void linked_store::close_links(conversation_state::pending_ones what)
{
    for (const auto& each : links_) {
        each->close(what);
    }
}

void linked_store::retire()
{
    (void)settle_up();
    for (const auto& each : links_) {
        each->retire();
    }
}

bool linked_store::healthy() const
{
    return std::all_of(links_.begin(), links_.end(), [](const auto& each) {
        return each->conversation().healthy();
    });
}

}  // namespace gateway::store
