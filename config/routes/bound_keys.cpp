// Keys of a route for timeouts and bounds of its own.
#include "config/routes/route_sections.hpp"
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
}

}  // namespace gateway::config
