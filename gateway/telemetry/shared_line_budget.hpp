// `shared_line_budget` is a line budget that all threads share.
#pragma once

#include "gateway/telemetry/line_budget.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace gateway::telemetry {

// Returns what a line says of those suppressed before it, or an empty text if there are none.
inline std::string unlogged_note(std::uint64_t suppressed)
{
    return suppressed > 0 ? "; " + std::to_string(suppressed) + " more were not logged"
                          : std::string{};
}

class shared_line_budget {
public:
    explicit shared_line_budget(std::uint64_t lines, base::duration in = std::chrono::seconds{1})
    {
        lines_.allow(lines, in);
    }

    // Returns the number of lines suppressed since the last printed one, or nothing if no line may
    // be printed at `now`.
    // Thread: any.
    std::optional<std::uint64_t> spend(base::instant now)
    {
        const std::lock_guard lock(mutex_);
        return lines_.spend(now) ? std::optional{lines_.take_suppressed()} : std::nullopt;
    }

private:
    std::mutex mutex_;
    line_budget lines_;
};

}  // namespace gateway::telemetry
