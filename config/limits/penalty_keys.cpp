#include "config/limits/penalty_keys.hpp"

#include "config/text/units.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view penalty_schema = R"({"type":"object","additionalProperties":false,
    "required":["after","within","ban","max_ban"],"properties":{
    "after":{"type":"integer","minimum":1,"maximum":1000},
    "within":{"type":["string"],"pattern":"^(0|[1-9][0-9]*)(ms|s|m|h|d)$"},
    "ban":{"type":["string"],"pattern":"^(0|[1-9][0-9]*)(ms|s|m|h|d)$"},
    "max_ban":{"type":["string"],"pattern":"^(0|[1-9][0-9]*)(ms|s|m|h|d)$"}}})";

constexpr base::duration shortest = 1s;

base::duration read_time(section& from, std::string_view key)
{
    return from.require(key) == nullptr
               ? shortest
               : from.time(key, shortest, limit::penalty::longest).value_or(shortest);
}

void read_penalty(section& limit, limit::penalty& penalty)
{
    const node* const value = limit.find("penalty");
    if (value == nullptr) {
        return;
    }
    section from{{value, limit.path_of("penalty")}, limit.found()};
    if (from.require("after") != nullptr) {
        const auto after = from.number("after", 1, limit::penalty::most_rejections);
        penalty.after = static_cast<std::int64_t>(after.value_or(1));
    }
    penalty.within = read_time(from, "within");
    penalty.ban = read_time(from, "ban");
    penalty.max_ban = read_time(from, "max_ban");
    if (from.has("ban") && from.has("max_ban") && penalty.max_ban < penalty.ban) {
        from.problem("max_ban", "shorter than \"ban\"");
    }
    from.refuse_the_rest();
}

std::string print_penalty(const limit::penalty& p)
{
    return "{ after: " + std::to_string(p.after) + ", within: " + format_duration(p.within) +
           ", ban: " + format_duration(p.ban) + ", max_ban: " + format_duration(p.max_ban) + " }";
}

}  // namespace

void describe_penalty(keys& limit, limit_draft& l)
{
    limit::penalty& penalty = l.rule.penalty;
    limit.other(
        {"penalty",
         "so many rejections of a bucket in that time, and all its requests are rejected for a "
         "while; for twice as long each next time within `max_ban`, which is the longest (below)"},
        {.says = {"none", "`{ after: 5, within: 1m, ban: 10m, max_ban: 1d }`"},
         .schema = penalty_schema,
         .read = [&](section& from) { read_penalty(from, penalty); },
         .print = [&]() -> std::optional<std::string> {
             return penalty.any() ? std::optional{print_penalty(penalty)} : std::nullopt;
         },
         .optional = true}
    );
}

}  // namespace gateway::config
