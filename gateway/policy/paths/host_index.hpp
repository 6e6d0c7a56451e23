// `host_index` finds routes by host: those of the name itself, then of the longest wildcard, then
// of any host. Among the routes of one host it chooses by path.
#pragma once

#include "gateway/base/text_hash.hpp"
#include "gateway/policy/paths/path_index.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gateway::policy {

class host_index {
public:
    // Adds a route, in the order of declaration. The match's scheme is ignored.
    void add(const route_match& match, std::size_t index);

    bool empty() const { return !any_; }

    // Returns the index of the route, or nothing if none of these matches.
    std::optional<std::size_t> find(const routing_subject& subject) const;

private:
    using hosts = std::unordered_map<std::string, path_index, base::text_hash, std::equal_to<>>;

    bool any_ = false;
    path_index of_any_host_;
    hosts by_host_;
    // Routes of "*.example.com", by ".example.com".
    hosts by_ending_;
    std::size_t longest_ending_ = 0;

    std::optional<std::size_t> find_by_ending(const routing_subject& subject) const;
};

}  // namespace gateway::policy
