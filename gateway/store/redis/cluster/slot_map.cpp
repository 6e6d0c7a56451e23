#include "gateway/store/redis/cluster/slot_map.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::store::redis {

namespace {

bool is_slot(const redisReply& r)
{
    return r.type == REDIS_REPLY_INTEGER && r.integer >= 0 &&
           r.integer < static_cast<long long>(slot_count);
}

bool is_text(const redisReply& r)
{
    return r.type == REDIS_REPLY_STRING;
}

}  // namespace

std::size_t slot_map::index_of(const net::server_address& node)
{
    const auto found = std::find(nodes_.begin(), nodes_.end(), node);
    if (found != nodes_.end()) {
        return static_cast<std::size_t>(found - nodes_.begin());
    }
    if (nodes_.size() == max_nodes) {
        return max_nodes + 1;
    }
    nodes_.push_back(node);
    return nodes_.size() - 1;
}

std::optional<slot_map> slot_map::read(const redisReply& r, const net::server_address& asked)
{
    slot_map map;
    if (r.type != REDIS_REPLY_ARRAY) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < r.elements; ++i) {
        if (!map.add_range(*r.element[i], asked)) {
            return std::nullopt;
        }
    }
    return map;
}

// Adds one range: first slot, last slot, the master, its replicas. A node has a host, a port, and
// more. Returns false if the range is malformed, or there are too many nodes.
bool slot_map::add_range(const redisReply& r, const net::server_address& asked)
{
    if (r.type != REDIS_REPLY_ARRAY || r.elements < 3 || !is_slot(*r.element[0]) ||
        !is_slot(*r.element[1]) || r.element[2]->type != REDIS_REPLY_ARRAY ||
        r.element[2]->elements < 2) {
        return false;
    }
    const redisReply& host = *r.element[2]->element[0];
    const redisReply& port = *r.element[2]->element[1];
    const bool is_unnamed = host.type == REDIS_REPLY_NIL || (is_text(host) && host.len == 0);
    if ((!is_unnamed && !is_text(host)) || port.type != REDIS_REPLY_INTEGER) {
        return false;
    }
    const std::string name = is_unnamed ? asked.host : std::string{host.str, host.len};
    if (name == "?") {
        return true;  // the asked node does not know where that one is
    }
    const std::size_t owner = index_of({name, std::to_string(port.integer), {}});
    if (owner >= max_nodes) {
        return false;
    }
    for (auto slot = r.element[0]->integer; slot <= r.element[1]->integer; ++slot) {
        std::uint16_t& has = owners_[static_cast<std::size_t>(slot)];
        if (has != nobody) {
            return false;  // each slot is named once, which bounds the work
        }
        has = static_cast<std::uint16_t>(owner);
    }
    return true;
}

std::optional<std::size_t> slot_map::owner(std::uint16_t slot) const
{
    const std::uint16_t index = owners_[slot];
    return index == nobody ? std::nullopt : std::optional<std::size_t>{index};
}

bool slot_map::is_whole() const
{
    return std::find(owners_.begin(), owners_.end(), nobody) == owners_.end();
}

void slot_map::set_owner(std::uint16_t slot, const net::server_address& node)
{
    if (const std::size_t index = index_of(node); index < max_nodes) {
        owners_[slot] = static_cast<std::uint16_t>(index);
    }
}

std::optional<std::uint16_t> slot_map::slot_at(const net::server_address& node) const
{
    for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
        if (owners_[slot] != nobody && nodes_[owners_[slot]] == node) {
            return slot;
        }
    }
    return std::nullopt;
}

std::optional<redirection> redirection_in(std::string_view error)
{
    const auto next_word = [&error] {
        const std::string_view word = error.substr(0, error.find(' '));
        error.remove_prefix(std::min(word.size() + 1, error.size()));
        return word;
    };
    redirection found;
    const std::string_view what = next_word();
    if (what == "TRYAGAIN") {
        found.what = redirection::kind::try_again;
        return found;
    }
    if (what != "MOVED" && what != "ASK") {
        return std::nullopt;
    }
    found.what = what == "ASK" ? redirection::kind::ask : redirection::kind::moved;
    const auto slot = base::parse_decimal(next_word(), slot_count - 1);
    const std::string_view address = next_word();
    const std::size_t colon = address.rfind(':');
    if (!slot || colon == std::string_view::npos ||
        !base::parse_decimal(address.substr(colon + 1), 65535)) {
        return std::nullopt;
    }
    found.slot = static_cast<std::uint16_t>(*slot);
    found.to = {std::string{address.substr(0, colon)}, std::string{address.substr(colon + 1)}, {}};
    return found;
}

}  // namespace gateway::store::redis
