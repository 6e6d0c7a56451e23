// `draft` is a configuration while it is read. A bad value becomes a problem among the findings and
// leaves the default in place. A draft with problems is never used.
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

// `service_origin` says where a rate-limit service stands, and its rules.
struct service_origin {
    origin itself;
    std::vector<origin> rules;
};

struct draft {
    settings result;
    policy::policy policy;

    // Origins of the elements: stores[i] is that of policy.stores[i], and so on.
    std::vector<origin> stores;
    std::vector<origin> plans;
    std::vector<origin> limits;
    std::vector<origin> routes;
    std::vector<origin> upstreams;
    std::vector<service_origin> services;

    // Calendars that limits share, by start and time zone.
    std::map<std::string, std::shared_ptr<const limit::calendar>> calendars;

    // Name of the configuration's file, from whose folder plan files are named.
    std::string file_name;
    // Configuration in force, or null. Its plan files need not be read again.
    const settings* running = nullptr;

    origin admin{{}, "admin.address"};
    // Origins of the listeners that want a PROXY header.
    std::vector<origin> proxied_listeners;
    // The listeners that Envoy asks, by the origins and names of their services.
    std::vector<std::pair<origin, std::string>> served_listeners;
    origin client;
};

// Returns the names of elements: as std::string_view while these stay, or as std::string.
template <class Name = std::string, class Elements>
std::vector<Name> names_in(const Elements& all)
{
    std::vector<Name> names;
    names.reserve(all.size());
    for (const auto& one : all) {
        names.emplace_back(one.name);
    }
    return names;
}

// Returns the path of a file that the configuration names, from the configuration's folder.
std::string beside(const draft& d, const std::string& file);

}  // namespace gateway::config
