// `sources` are functions that other folders provide for the metrics. Each scrape calls them.
#pragma once

#include "gateway/telemetry/families.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gateway::telemetry {

// `server_health` holds the results of active checks of one server.
struct server_health {
    std::string upstream;
    std::string server;
    bool healthy = true;
    std::uint64_t good = 0;
    std::uint64_t failed = 0;
};

// `plan_figures` describes one section of `plans`.
struct plan_figures {
    std::string name;
    std::size_t members = 0;
    // Number of changed files that could not be read.
    std::uint64_t errors = 0;
    bool has_file = false;
    // False while the file, as it is now, could not be read.
    // Requires: has_file.
    bool file_in_force = true;
};

// `certificate_figures` describes a certificate that the gateway presents.
struct certificate_figures {
    // The certificate's file.
    std::string name;
    // End of validity, since 1970.
    std::chrono::seconds expires{};
};

// `key_fetch_figures` describes the fetches of the keys that verify tokens.
struct key_fetch_figures {
    // Number of keys in force.
    std::size_t keys = 0;
    // True if the last fetch failed.
    bool failing = false;
    // Number of fetches by their result.
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
};

// Each function returns the present state. The metrics of a null function are left out.
struct sources {
    // Buckets of the local store, and clients that found their table full.
    std::function<std::size_t()> buckets{};
    std::function<std::uint64_t()> turned_away{};
    // Lines that the access log has dropped.
    std::function<std::uint64_t()> dropped_lines{};
    // Spans that no collector has taken.
    std::function<std::uint64_t()> dropped_spans{};
    // State of servers that all workers share. A server that it does not name has left the
    // configuration, and only its counters stay.
    std::function<std::vector<server_figures>()> servers{};
    std::function<std::vector<server_health>()> health{};
    std::function<std::vector<plan_figures>()> plans{};
    std::function<std::vector<certificate_figures>()> certificates{};
    // Nothing if keys are not fetched.
    std::function<std::optional<key_fetch_figures>()> key_fetches{};
};

// Appends the families of all sources but `servers`, which add_server_families() adds.
void add_source_families(families& all, const sources& from);

}  // namespace gateway::telemetry
