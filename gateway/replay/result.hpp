// `replay_result` is what a replay has found out. Plain value, which the reports show.
#pragma once

#include "gateway/replay/client_counts.hpp"
#include "gateway/replay/logs/ordered_log.hpp"
#include "gateway/replay/suggestion.hpp"
#include "gateway/replay/timeline.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gateway::replay {

// `unknown_thing` is something that the log does not tell, and how many requests could not be
// judged because of it.
struct unknown_thing {
    std::string what;
    std::uint64_t requests = 0;
};

struct limit_result {
    std::string name;
    // The limit's numbers as configurations write them.
    std::string rate;
    std::int64_t burst = 0;
    // True if it is in shadow mode. Its rejections reject no request.
    bool shadow = false;
    std::uint64_t allowed = 0;
    std::uint64_t rejected = 0;
    std::uint64_t unjudged = 0;
    std::vector<unknown_thing> unknown;

    // The clients with the most rejections, and then with the most requests.
    std::vector<client_count> clients;
    std::size_t all_clients = 0;
    std::size_t rejected_clients = 0;
    // True if there were more clients than are counted.
    bool partial = false;
    timeline over_time;

    std::optional<suggestion> suggested;
    // Reason why there is no suggestion, if one was asked for.
    std::string no_suggestion;
};

// `difference` compares two verdicts on the same requests: those of another policy, or those that
// the log has, with those of the candidate.
struct difference {
    // Requests with two verdicts.
    std::uint64_t compared = 0;
    std::uint64_t newly_rejected = 0;
    std::uint64_t newly_allowed = 0;
    // The clients with the most differences, by their addresses: `rejected` counts those that are
    // newly rejected and `allowed` those that are newly allowed.
    std::vector<client_count> clients;
};

struct replay_result {
    line_counts lines;
    // Formats of the logs, each once.
    std::vector<std::string> formats;
    // Logs without a line.
    std::vector<std::string> empty_logs;
    std::uint64_t allowed = 0;
    std::uint64_t rejected = 0;
    std::uint64_t unjudged = 0;
    // Reasons why the route of requests is not certain, so that they could not be judged.
    std::vector<unknown_thing> unknown;
    // Requests that were refused before limits were asked, as they were malformed, or because of a
    // key or cost that the log does not tell.
    std::uint64_t malformed = 0;
    // Lines that were left out, as they tell of answers to Envoy's questions.
    std::uint64_t envoy_calls = 0;
    // Allowed requests that no limit was asked about: no route matches, say.
    std::uint64_t unlimited = 0;
    // Moments of the first and the last request, in Unix time.
    base::duration begin{0};
    base::duration end{0};
    timeline over_time;
    std::vector<limit_result> limits;
    std::optional<difference> against;
    // Nothing if the log has no verdicts.
    std::optional<difference> logged;
    accepted_loss accepted;
};

}  // namespace gateway::replay
