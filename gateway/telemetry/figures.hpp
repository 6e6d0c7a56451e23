// What others know that the metrics tell of, asked for at each scrape.
#pragma once

#include "gateway/telemetry/families.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gateway::telemetry {

// What active checks say of one server.
struct server_health {
    std::string upstream;
    std::string server;
    bool healthy = true;
    std::uint64_t good = 0;
    std::uint64_t failed = 0;
};

// Of one section of `plans`.
struct plan_figures {
    std::string name;
    std::size_t members = 0;
    // Changed files that could not be read.
    std::uint64_t errors = 0;
    bool has_file = false;
    // False while the file, as it is now, could not be read. Requires: has_file.
    bool file_in_force = true;
};

// Of a certificate that a listener shows.
struct certificate_figures {
    // Its file.
    std::string name;
    // Until when it holds, since 1970.
    std::chrono::seconds expires{};
};

// Each is null, and then nothing is told of it, or says what is so now.
struct sources {
    // Buckets of the local store, and clients that found their table full.
    std::function<std::size_t()> buckets{};
    std::function<std::uint64_t()> turned_away{};
    // Of the access log.
    std::function<std::uint64_t()> dropped_lines{};
    // What the workers know of servers together. Those it does not name have left the
    // configuration: only their counters stay.
    std::function<std::vector<server_figures>()> servers{};
    std::function<std::vector<server_health>()> health{};
    std::function<std::vector<plan_figures>()> plans{};
    std::function<std::vector<certificate_figures>()> certificates{};
};

// All but `servers`, which stand among what workers counted of them.
void add_source_families(families& all, const sources& from);

}  // namespace gateway::telemetry
