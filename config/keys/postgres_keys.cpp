// `describe_postgres` describes the keys that only a shared store in PostgreSQL has.
#include "config/sections.hpp"

namespace gateway::config {

using store::postgres_options;

void describe_postgres(keys& k, store::shared_options& options)
{
    postgres_options none;
    auto* const in_postgres = std::get_if<postgres_options>(&options);
    postgres_options& its = in_postgres == nullptr ? none : *in_postgres;
    const bool is_postgres = in_postgres != nullptr;
    k("connections",
      "the number of connections of a worker to `postgresql://`, each with a server process of "
      "its own. More than one is of use where calls wait for the disk or for each other")
        .printed_if(is_postgres)
        .number(its.connections, {1, postgres_options::most_connections});
    k("durable",
      "keeps the table of `postgresql://` through a crash of the server, which costs a write to "
      "its disk per call. With `false`, a crash makes every bucket full. This key takes effect "
      "when the schema is installed")
        .printed_if(is_postgres)
        .flag(its.durable);
    k("migrate",
      "installs the gateway's schema in `postgresql://` where it is missing. With `false`, "
      "somebody with the rights for it runs `gateway migrate`")
        .printed_if(is_postgres)
        .flag(its.migrate);
    k.rule([is_postgres](section& from) {
        for (const std::string_view name : {"connections", "durable", "migrate"}) {
            if (!is_postgres && from.has(name) && from.has("url")) {
                from.problem(name, "is for a \"url\" that begins with postgresql://");
            }
        }
    });
}

}  // namespace gateway::config
