// `run_replay` decides the requests of access logs again under a candidate's policy.
// Thread: one thread only.
#pragma once

#include "gateway/replay/candidate.hpp"
#include "gateway/replay/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gateway::replay {

struct replay_options {
    candidate_options policy;
    // Policy to compare with.
    std::optional<candidate_options> against{};
    // Paths; "-" is the standard input.
    std::vector<std::string> logs;
    // Members of JSON lines, as described_json() takes them; empty: the format is guessed.
    std::string fields{};
    accepted_loss accepted{};
};

// `replay_progress` is how far a replay has come. A size of 0 is unknown.
struct replay_progress {
    std::uint64_t lines = 0;
    std::uint64_t position = 0;
    std::uint64_t size = 0;
};

// Number of requests after which progress is reported again.
inline constexpr std::uint64_t progress_every = 8192;

struct replay_failure {
    std::string what;
    // True if the command line is wrong, and not a log.
    bool wrong_usage = false;
};

// Runs a replay. `report` is called now and then. Returns the result, or why there is none.
std::variant<replay_result, replay_failure> run_replay(
    const replay_options& options, const std::function<void(const replay_progress&)>& report
);

}  // namespace gateway::replay
