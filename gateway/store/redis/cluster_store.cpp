#include "gateway/store/redis/cluster_store.hpp"

#include "gateway/store/redis/cluster/slot.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::store {

cluster_store::cluster_store(
    net::loop& l, std::string name, const redis_options& options, telemetry::store_metrics& metrics
)
    : loop_(l),
      name_(std::move(name)),
      options_(options),
      metrics_(metrics),
      health_(name_, metrics),
      spreads_(l.get_executor(), *this, options.timeout, metrics),
      redirected_again_(l.get_executor(), [this] { look_after_redirected(); })
{
    // Grants are not reported in a cluster, so nothing is believed for longer than a grant may take
    // to count.
    options_.remember_for = last_answer::heard_for;
    topology_ =
        redis::topology::start(l.get_executor(), options_, stage_limit(options_.timeout), *this);
}

cluster_store::~cluster_store()
{
    topology_->cancel();
    for (auto* const all : {&links_, &leaving_}) {
        for (const auto& link : *all) {
            link->forget_cluster();
        }
    }
    close_links(conversation_state::pending_ones::abandon);
}

void cluster_store::close_links(conversation_state::pending_ones what)
{
    closed_ = true;
    redirected_again_.cancel();
    for (auto* const all : {&links_, &leaving_}) {
        for (const auto& link : *all) {
            link->close(what);
        }
    }
}

void cluster_store::close()
{
    retire();
    topology_->cancel();
    close_links(conversation_state::pending_ones::fail);
    spreads_.close();
}

void cluster_store::retire()
{
    retired_ = true;
    health_.retire();
    for (const auto& link : links_) {
        link->retire();
    }
}

// Returns the link to the node that has the charge's slot, or null if no node is known to have it.
redis::link* cluster_store::link_of(const charge& c) const
{
    const auto owner = map_.owner(redis::slot_of(redis::tag_of(c)));
    return owner ? links_[*owner].get() : nullptr;
}

bool cluster_store::has(const charge& c) const
{
    const redis::link* const link = link_of(c);
    return link != nullptr && link->conversation().healthy();
}

std::optional<failure> cluster_store::ask(std::span<const charge> charges, question& q)
{
    std::array<std::size_t, max_charges> turns{};
    std::array<std::string, max_charges> tags;
    std::size_t slots = 0;
    for (std::size_t i = 0; i < charges.size(); ++i) {
        std::string tag = redis::tag_of(charges[i]);
        const auto known = std::find(tags.begin(), tags.begin() + static_cast<long>(slots), tag);
        turns[i] = static_cast<std::size_t>(known - tags.begin());
        if (turns[i] == slots) {
            tags[slots++] = std::move(tag);
        }
    }
    if (slots > 1) {
        return spreads_.ask(charges, std::span{turns}.first(charges.size()), q);
    }
    redis::link* const link = closed_ ? nullptr : link_of(charges.front());
    if (link == nullptr) {
        metrics_.failures[static_cast<std::size_t>(failure::unreachable)].add();
        doubt();
        return failure::unreachable;
    }
    return link->conversation().ask(charges, q, base::now());
}

bool cluster_store::recalls(std::span<const charge> charges, base::instant now, answer& into) const
{
    if (charges.size() == 1) {
        const redis::link* const link = link_of(charges.front());
        return link != nullptr && link->conversation().recalls(charges, now, into);
    }
    for (std::size_t i = 0; i < charges.size(); ++i) {
        if (charges[i].enforced && recalls_one(charges, i, now, into)) {
            return true;
        }
    }
    return false;
}

// Returns true if the i-th charge is known to be rejected, so that all of them are.
bool cluster_store::recalls_one(
    std::span<const charge> charges, std::size_t i, base::instant now, answer& into
) const
{
    answer one;
    if (!recalls(charges.subspan(i, 1), now, one)) {
        return false;
    }
    into.clear();
    into.admitted = false;
    for (std::size_t other = 0; other < charges.size(); ++other) {
        if (other == i) {
            into.add(one.decisions().front());
        } else {
            into.add_unknown();
        }
    }
    return true;
}

std::shared_ptr<redis::link> cluster_store::start_link(const net::server_address& node)
{
    auto link = redis::link::start(loop_, name_, at_node(options_, node), metrics_, this);
    if (retired_) {
        link->retire();
    }
    return link;
}

redis::link* cluster_store::link_to(const net::server_address& node)
{
    const std::size_t index = map_.index_of(node);
    if (index == links_.size()) {
        links_.push_back(start_link(node));
    }
    return index < links_.size() ? links_[index].get() : nullptr;
}

// Takes a new map. Links to nodes that are still there stay.
void cluster_store::heard(const redis::slot_map& map)
{
    std::vector<std::shared_ptr<redis::link>> links;
    for (const net::server_address& node : map.nodes()) {
        const auto& known = map_.nodes();
        const auto found = std::find(known.begin(), known.end(), node);
        const auto index = static_cast<std::size_t>(found - known.begin());
        links.push_back(found == known.end() ? start_link(node) : links_[index]);
    }
    map_ = map;
    for (const auto& link : std::exchange(links_, links)) {
        if (std::find(links.begin(), links.end(), link) == links.end()) {
            link->retire();
            leaving_.push_back(link);
        }
    }
    drop_leaving();
    if (all_healthy()) {
        const std::string what = "cluster of " + std::to_string(links_.size()) + " masters";
        health_.report(std::nullopt, what, true, false);
    }
}

void cluster_store::drop_leaving()
{
    std::erase_if(leaving_, [](const std::shared_ptr<redis::link>& link) {
        const bool idle = link->idle();
        if (idle) {
            link->close(conversation_state::pending_ones::fail);
        }
        return idle;
    });
}

void cluster_store::unknown(failure why, std::string detail)
{
    health_.note(why, std::move(detail));
    health_.report(why, options_.cluster.front().text(), false, false);
}

// Returns the nodes to ask: those that can be asked come first, each time beginning with another
// one.
std::vector<net::server_address> cluster_store::nodes() const
{
    std::vector<net::server_address> good;
    std::vector<net::server_address> others = options_.cluster;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const bool healthy = links_[i]->conversation().healthy();
        (healthy ? good : others).push_back(map_.nodes()[i]);
    }
    if (!good.empty()) {
        const auto ticks = static_cast<std::size_t>(base::now().time_since_epoch().count());
        std::rotate(
            good.begin(), good.begin() + static_cast<long>(ticks % good.size()), good.end()
        );
    }
    good.insert(good.end(), others.begin(), others.end());
    return good;
}

bool cluster_store::in_doubt() const
{
    return !leaving_.empty() || !all_healthy();
}

void cluster_store::doubt()
{
    if (!closed_ && topology_ != nullptr) {
        topology_->doubt();
    }
}

bool cluster_store::all_healthy() const
{
    const auto healthy = [](const auto& link) { return link->conversation().healthy(); };
    return map_.is_whole() && std::all_of(links_.begin(), links_.end(), healthy);
}

std::string cluster_store::probe_tag(const net::server_address& node)
{
    const auto slot = map_.slot_at(node);
    return slot ? redis::tag_in(*slot) : std::string{};
}

}  // namespace gateway::store
