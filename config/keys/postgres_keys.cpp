#include "config/keys/postgres_keys.hpp"

#include "config/text/yaml_text.hpp"

namespace gateway::config {
namespace {

using store::postgres_options;

// Returns the options, or null if it is another kind of store.
postgres_options* in_postgres(store::shared_options& options)
{
    return std::get_if<postgres_options>(&options);
}

// Describes a flag that other kinds of stores do not have.
void describe_flag(
    keys& shared, const key& what, store::shared_options& options, bool postgres_options::*flag
)
{
    const postgres_options defaults;
    const bool standard = defaults.*flag;
    shared.other(
        what,
        {.says = {standard ? "`true`" : "`false`"},
         .schema = standard ? R"({"type":"boolean","default":true})"
                            : R"({"type":"boolean","default":false})",
         .read =
             [&options, flag, name = what.name](section& from) {
                 const auto value = from.flag(name);
                 if (postgres_options* const its = in_postgres(options); its != nullptr && value) {
                     its->*flag = *value;
                 }
             },
         .print = [&options, flag]() -> std::optional<std::string> {
             const postgres_options* const its = in_postgres(options);
             return its == nullptr ? std::nullopt : std::optional{yaml(its->*flag)};
         },
         .optional = true}
    );
}

void refuse_elsewhere(section& from, store::shared_options& options)
{
    for (const std::string_view name : {"connections", "durable", "migrate"}) {
        if (from.has(name) && from.has("url") && in_postgres(options) == nullptr) {
            from.problem(name, "is for a \"url\" that begins with postgresql://");
        }
    }
}

}  // namespace

void describe_postgres(keys& shared, store::shared_options& options)
{
    shared.other(
        {"connections",
         "of `postgresql://`: per worker, each with a server process of its own. More are of use "
         "where "
         "calls wait for the disk or for each other"},
        {.says = {"`1`", "1 to 16"},
         .schema = R"({"type":"integer","default":1,"minimum":1,"maximum":16})",
         .read =
             [&options](section& from) {
                 const auto count =
                     from.number("connections", 1, postgres_options::most_connections);
                 if (postgres_options* const its = in_postgres(options); its != nullptr && count) {
                     its->connections = *count;
                 }
             },
         .print = [&options]() -> std::optional<std::string> {
             const postgres_options* const its = in_postgres(options);
             return its == nullptr ? std::nullopt : std::optional{std::to_string(its->connections)};
         },
         .optional = true}
    );
    describe_flag(
        shared,
        {"durable",
         "of `postgresql://`: whether the table outlives a crash of the server, which costs a "
         "write to its "
         "disk per call. Off: a crash makes every bucket full. It is read when the schema is "
         "installed"},
        options,
        &postgres_options::durable
    );
    describe_flag(
        shared,
        {"migrate",
         "of `postgresql://`: install our schema where it is missing. Off: that is done with "
         "`gateway "
         "migrate`, by somebody who may"},
        options,
        &postgres_options::migrate
    );
    shared.rule([&options](section& from) { refuse_elsewhere(from, options); });
}

}  // namespace gateway::config
