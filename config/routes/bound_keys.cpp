// Keys of a route for timeouts and bounds of its own.
#include "config/routes/route_sections.hpp"
#include "config/sections.hpp"
#include "config/text/units.hpp"

namespace gateway::config {
namespace {

void describe_time(
    const described_key& k,
    std::string_view name,
    stated documented,
    std::optional<base::duration>& value
)
{
    k.other(
        {.documented = documented,
         .schema = R"({"type":"string","pattern":"^[1-9][0-9]*(ms|s|m|h|d)$"})",
         .read = [&value, name](section& from
                 ) { value = from.time(name, shortest_timeout, longest_timeout); },
         .print = [&value] { return value ? format_duration(*value) : ""; }}
    );
}

// Describes how much of a content is read ahead.
void describe_inspection(keys& k, policy::route_bounds& bounds)
{
    std::optional<std::size_t>& most = bounds.max_inspected_body;
    k("max_inspected_body",
      "bounds how much of a request's JSON content is read before the request is decided about")
        .other(
            {.documented = {"`http.max_inspected_body`", "1 to 1MiB"},
             .schema =
                 R"({"type":["integer","string"],"minimum":1,"pattern":"^([1-9][0-9]*)(KiB|MiB)?$"})",
             .read = [&](section& from) { most = from.size("max_inspected_body", 1, mib); },
             .print = [&] { return most ? format_size(*most) : ""; }}
        );
    std::optional<bool>& refuses = bounds.refuses_long_body;
    k("on_long_body", "says what becomes of a request that lacks a member in that much of it")
        .other(
            {.documented = {"`http.on_long_body`", "`missing`, `413`"},
             .schema = R"({"enum":["missing","413",413]})",
             .read =
                 [&](section& from) {
                     if (const auto index = from.choice("on_long_body", names_of(long_bodies))) {
                         refuses = long_bodies[*index].second;
                     }
                 },
             .print = [&] { return refuses ? name_of(*refuses, long_bodies) : ""; }}
        );
}

}  // namespace

void describe_bounds(keys& k, policy::route_bounds& bounds)
{
    describe_time(
        k("response_timeout",
          "bounds the wait for the end of the response's header, in place of the upstream's "
          "`response_timeout`"),
        "response_timeout",
        {"the upstream's", "1ms to 1d"},
        bounds.response_timeout
    );
    describe_time(
        k("body_timeout",
          "bounds the time in which no byte of a body moves, either way. Streams with silent "
          "pauses need a longer one"),
        "body_timeout",
        {"`http.body_timeout`", "1ms to 1d"},
        bounds.body_timeout
    );
    std::optional<std::uint64_t>& most = bounds.max_body_bytes;
    k("max_body_bytes", "bounds the body of a request of this route; 413 past it. 0 is no bound")
        .other(
            {.documented = {"`http.max_body_bytes`", "0 to 1024TiB"},
             .schema =
                 R"({"type":["integer","string"],"minimum":0,"pattern":"^(0|[1-9][0-9]*)(KiB|MiB|GiB|TiB)?$"})",
             .read = [&](section& from) { most = from.size("max_body_bytes", 0, largest_body); },
             .print = [&] { return most ? format_size(*most) : ""; }}
        );
    describe_inspection(k, bounds);
}

}  // namespace gateway::config
