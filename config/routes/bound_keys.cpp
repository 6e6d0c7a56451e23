#include "config/routes/bound_keys.hpp"

#include "config/text/ranges.hpp"
#include "config/text/units.hpp"

namespace gateway::config {
namespace {

void describe_time(keys& route, const key& k, stated says, std::optional<base::duration>& value)
{
    route.other(
        k,
        {.says = says,
         .schema = R"({"type":"string","pattern":"^[1-9][0-9]*(ms|s|m|h|d)$"})",
         .read = [&value, name = k.name](section& from
                 ) { value = from.time(name, shortest_timeout, longest_timeout); },
         .print = [&value]() -> std::optional<std::string> {
             return value ? std::optional{format_duration(*value)} : std::nullopt;
         },
         .optional = true}
    );
}

}  // namespace

void describe_bounds(keys& route, policy::route_bounds& bounds)
{
    describe_time(
        route,
        {"response_timeout", "to the end of the response's header, instead of the upstream's"},
        {"the upstream's", "1ms to 1d"},
        bounds.response_timeout
    );
    describe_time(
        route,
        {"body_timeout",
         "without a byte of body moving, either way: longer for streams with silent pauses"},
        {"`http.body_timeout`", "1ms to 1d"},
        bounds.body_timeout
    );
    route.other(
        {"max_body_bytes", "of a request; 413 past it; 0 is no limit"},
        {.says = {"`http.max_body_bytes`", "0 to 1024TiB"},
         .schema =
             R"({"type":["integer","string"],"minimum":0,"pattern":"^(0|[1-9][0-9]*)(KiB|MiB|GiB|TiB)?$"})",
         .read = [&](section& from
                 ) { bounds.max_body_bytes = from.size("max_body_bytes", 0, largest_body); },
         .print = [&]() -> std::optional<std::string> {
             return bounds.max_body_bytes ? std::optional{format_size(*bounds.max_body_bytes)}
                                          : std::nullopt;
         },
         .optional = true}
    );
}

}  // namespace gateway::config
