// A configuration while it is read, and the functions that read its sections into it.
// Each complains into the findings and leaves defaults behind; nobody uses a draft with problems.
#pragma once

#include "config/reader.hpp"
#include "config/settings.hpp"

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
    std::vector<origin> limits;
    std::vector<origin> routes;
    std::vector<origin> upstreams;

    origin admin;
    origin client;
};

// What the process as a whole is told: listeners, admin, workers, …, http, log, response_headers.
void load_listeners(section& root, draft& d, findings& found);
void load_process(section& root, draft& d, findings& found);
void load_http(section& root, draft& d, findings& found);
void load_log(section& root, draft& d, findings& found);
void load_response_headers(section& root, draft& d, findings& found);

void load_client(section& root, draft& d, findings& found);

// In this order, because the later ones refer to the earlier ones by name.
void load_stores(section& root, draft& d, findings& found);
void load_limits(section& root, draft& d, findings& found);
void load_upstreams(section& root, draft& d, findings& found);
void load_routes(section& root, draft& d, findings& found);

// The key `health` of an upstream; nothing without it.
void load_health(section& upstream, std::optional<proxy::health_options>& out, findings& found);

// One element of a limit's key, such as "header:x-api-key"; nothing and a problem if it is none.
std::optional<policy::key_part> parse_key_part(const located& part, findings& found);

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
