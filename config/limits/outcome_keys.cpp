// Keys `charge_on`, `reset_on` and `penalty` of a limit: what follows from responses, and
// from rejections.
#include "config/limits/limit_sections.hpp"
#include "config/limits/response_sets.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr base::duration shortest_ban = std::chrono::seconds{1};

void describe_bans(keys& k, limit::penalty& penalty)
{
    const times length{shortest_ban, limit::penalty::longest};
    k("after", "rejections until the ban", required)
        .number(penalty.after, {1, limit::penalty::most_rejections});
    k("within", "time within which these rejections come", required).time(penalty.within, length);
    k("ban", "length of the first ban", required).time(penalty.ban, length);
    k("max_ban", "length of the longest ban", required).time(penalty.max_ban, length);
    k.rule([&](section& from) {
        if (from.has("ban") && from.has("max_ban") &&
            std::max(penalty.max_ban, shortest_ban) < penalty.ban) {
            from.problem("max_ban", "shorter than \"ban\"");
        }
        // With a problem, too, there is a penalty that other keys are checked against.
        penalty.after = std::max<std::int64_t>(penalty.after, 1);
    });
}

}  // namespace

void describe_outcome(keys& k, policy::outcome_rule& outcome)
{
    describe_responses(
        k("charge_on",
          "the responses that keep the charge, by their status or by the outcome of a call of gRPC "
          "(below); with any other the tokens are refunded. Until the response they are taken, so "
          "of good requests at once no more pass than there are tokens"),
        outcome.charge_on
    );
    describe_responses(
        k("reset_on", "the responses that make the bucket full again"), outcome.reset_on
    );
    describe_settle(k, outcome);
}

void describe_penalty(keys& k, limit::penalty& penalty)
{
    k("penalty",
      "bans a bucket: after so many rejections within that time, all its requests are rejected "
      "for the time of `ban`. Each next ban within `max_ban` is twice as long, up to `max_ban` "
      "(below)")
        .line(
            {.documented = {"none", "`{ after: 5, within: 1m, ban: 10m, max_ban: 1d }`"},
             .is_set = penalty.any(),
             .describe = [&](keys& inner) { describe_bans(inner, penalty); }}
        );
}

}  // namespace gateway::config
