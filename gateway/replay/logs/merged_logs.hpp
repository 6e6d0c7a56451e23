// `merged_logs` reads several access logs as one, in the order of their moments: those of several
// gateways of one day, or of several days.
// Thread: one thread only.
#pragma once

#include "gateway/replay/logs/ordered_log.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gateway::replay {

class merged_logs {
public:
    // Most logs that are read together.
    static constexpr std::size_t most = 256;

    // Opens the logs.
    // Requires: paths.size() <= most.
    // Ownership: `wanted` outlives this object.
    merged_logs(
        std::span<const std::string> paths,
        const wanted_parts& wanted,
        const std::optional<json_format>& described
    );

    // Returns the next request, or null at the end. It is valid until the next call. Among requests
    // of one moment, those of an earlier log come first.
    const logged_request* next();

    // Returns why a log cannot be read; empty if all can.
    std::string complaint() const;

    // Returns the counts of all logs together. The first bad line is that of the earliest log that
    // has one.
    line_counts counts() const;

    // Returns the bytes of all logs and how many of them were read. The size is 0 if one has none.
    std::uint64_t size() const;
    std::uint64_t position() const;

    std::span<const std::unique_ptr<ordered_log>> logs() const { return logs_; }

private:
    std::vector<std::unique_ptr<ordered_log>> logs_;
    // The log that returned the last request, or null.
    ordered_log* last_ = nullptr;
};

}  // namespace gateway::replay
