// A configuration while it is read. What is bad is complained of among the findings and leaves the
// default behind; nobody uses a draft with problems.
#pragma once

#include "config/settings.hpp"
#include "config/text/reader.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

inline constexpr std::size_t max_listeners = 64;
inline constexpr std::size_t max_trusted_proxies = 1000;
inline constexpr std::size_t max_shared_stores = 16;
inline constexpr std::size_t max_limits = 1000;
inline constexpr std::size_t max_routes = 10'000;
inline constexpr std::size_t max_methods = 32;
inline constexpr std::size_t max_upstreams = 1000;
inline constexpr std::size_t max_servers = proxy::max_servers;

// Where something was written, for rules that are checked after everything is read.
struct origin {
    place at;
    std::string path;
};

struct draft {
    settings result;
    policy::policy policy;

    // Where each element was written: stores[i] is the origin of policy.stores[i], and so on.
    std::vector<origin> stores;
    std::vector<origin> plans;
    std::vector<origin> limits;
    std::vector<origin> routes;
    std::vector<origin> upstreams;

    // The calendars that limits share, by start and time zone.
    std::map<std::string, std::shared_ptr<const limit::calendar>> calendars;

    // From whose folder plan files are named.
    std::string file_name;
    // The configuration in force, whose plan files need not be read again; may be null.
    const settings* running = nullptr;

    origin admin;
    // Of listeners that want a PROXY header.
    std::vector<origin> proxied_listeners;
    origin client;
};

// Where a file is that the configuration names: from the folder of the configuration.
std::string beside(const draft& d, const std::string& file);

// The index of the name, or nothing and a problem: `unknown limit "x", did you mean …`.
std::optional<std::size_t> resolve(
    const located& name,
    std::string_view what,
    const std::vector<std::string>& names,
    findings& found
);

// True if the list has at most `max` elements; otherwise a problem.
bool within(const located& list, std::size_t max, findings& found);

}  // namespace gateway::config
