// `describe_stores` describes the section `stores`: the local store, which is always there, and the
// shared ones by name.
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/store/memory/snapshot_file.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_buckets = 100'000'000;
constexpr std::size_t longest_key_prefix = 64;

std::string take_file(const std::string& path, std::string& file, const draft& d)
{
    file = beside(d, path);
    if (path.empty() || path.ends_with('/')) {
        return "expected the name of a file";
    }
    const auto wrong = store::complaint_about_path(file);
    return wrong ? quote(path) + ' ' + *wrong : "";
}

void describe_snapshot(keys& k, store::snapshot_options& options, const draft& d)
{
    k("file",
      "the path of the snapshot, which is written beside it and renamed. A relative path counts "
      "from the folder of the configuration. Each gateway needs a file of its own",
      required)
        .text(
            {.documented = {"none", "a path"},
             .take = [&](const std::string& path) { return take_file(path, options.file, d); },
             .print = [&] { return yaml(options.file); }}
        );
    k("interval",
      "the time from one snapshot to the next; the last one is written when the process ends")
        .time(options.interval, {1s, 1h});
}

void describe_local(keys& k, store::memory_options& options, const draft& d)
{
    using when_full = store::memory_options::when_full;
    constexpr words<when_full, 2> choices{
        {{"share", when_full::share}, {"reject", when_full::reject}}};
    k("max_buckets",
      "bounds the number of buckets in memory. Only a bucket that is full anyway is ever "
      "forgotten")
        .number(options.max_buckets, {1, most_buckets});
    k("on_full",
      "says what new clients get when no bucket can be forgotten: `share` charges those of a "
      "limit to one bucket of that limit, `reject` answers 503")
        .word(options.on_full, choices);
    k("snapshot", "keeps the buckets in a file, from which a restart goes on; the keys below")
        .mapping(options.snapshot, [&d](keys& inner, store::snapshot_options& snapshot) {
            describe_snapshot(inner, snapshot, d);
        });
}

// Describes `breaker`. The longest pause keeps the promise that a store's recovery is noticed
// within a second.
void describe_breaker(keys& k, store::breaker_options& options)
{
    k("failures", "the breaker opens after so many failures in a row")
        .number(options.failures, {1, 1000});
    k("decisions",
      "the breaker also opens when at least so many decisions came within `window`, and half "
      "of them failed")
        .number(options.decisions, {1, 1'000'000});
    k("window", "the time over which `decisions` are counted").time(options.window, {100ms, 1min});
    k("pause",
      "the wait before each probe of the store, cut at random to two thirds of it at least. It "
      "cannot be longer, so that recovery takes a second at most")
        .time(options.pause, {10ms, 700ms});
}

std::string take_prefix(const std::string& text, std::string& prefix)
{
    if (!is_visible(text, longest_key_prefix)) {
        return "expected at most 64 printable ASCII characters without spaces";
    }
    prefix = text;
    return {};
}

// Checks the prefix of a cluster, in which braces mark the part of a key that its slot is computed
// from.
void check_prefix(section& from, const store::shared_options& options)
{
    const auto* const redis = std::get_if<store::redis_options>(&options);
    if (redis != nullptr && !redis->cluster.empty() &&
        redis->key_prefix.find_first_of("{}") != std::string::npos) {
        from.problem("key_prefix", "a cluster wants a prefix without braces");
    }
}

// Describes the keys that only a shared store in PostgreSQL has.
// Requires: the URL has been described.
void describe_postgres(keys& k, store::shared_options& options)
{
    using store::postgres_options;
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

void describe_shared(keys& k, store::shared_options& options, const draft& d)
{
    describe_server_url(k, options, d);
    store::conversation_options& common = store::common(options);
    k("timeout", "bounds how long a decision takes, whatever the store does")
        .time(common.timeout, {1ms, 10s});
    k("key_prefix", "the beginning of the names of the gateway's keys in the store")
        .text(
            {.documented = {"`\"gw:\"`", "at most 64 characters"},
             .schema = R"({"type":"string","maxLength":64})",
             .take = [&](const std::string& text) { return take_prefix(text, common.key_prefix); },
             .print = [&] { return yaml(common.key_prefix); }}
        );
    k.rule([&options](section& from) { check_prefix(from, options); });
    k("max_pending",
      "bounds the decisions of a worker that wait for the store; past it a decision fails at "
      "once. Keep it above the number of a worker's connections, or one client with very many "
      "could fill it")
        .number(common.max_pending, {1024, 65'536});
    k("remember_rejections",
      "lets a worker that has learned from the store that a bucket is empty reject its requests "
      "without asking again, until the moment that the store named (docs/operations.md says "
      "what cuts that short). With `false`, a bucket that somebody deletes in Redis is full at "
      "once, and each request of a client far over its limit asks the store")
        .flag(common.remember_rejections);
    describe_postgres(k, options);
    k("breaker", "says when a store that fails is not asked any more; the keys below")
        .mapping([&](keys& inner) { describe_breaker(inner, common.breaker); });
}

void load_shared(const std::string& name, const located& one, draft& d, findings& found)
{
    if (d.result.shared_stores.size() == max_shared_stores) {
        found.problem(
            one, "too many shared stores, the maximum is " + std::to_string(max_shared_stores)
        );
        return;
    }
    store::shared_options options;
    read_mapping(one, found, [&](keys& k) { describe_shared(k, options, d); });
    d.policy.stores.push_back(name);
    d.stores.push_back(one);
    d.result.shared_stores.push_back({name, std::move(options)});
}

}  // namespace

void describe_stores(keys& root, draft& d)
{
    std::vector<store::named_store>& stores = d.result.shared_stores;
    const auto describe_its = [&](keys& k) { describe_local(k, d.result.local_store, d); };
    const auto read = [&](section& from) {
        for (const auto& [name, one] : from.named("stores", max_shared_stores + 1)) {
            if (name == "local") {
                read_mapping(one, from.found(), describe_its);
            } else {
                load_shared(name, one, d, from.found());
            }
        }
    };
    constexpr key itself{
        .name = "stores",
        .summary =
            "where buckets live: `local` is in memory and always there, any other name is a shared "
            "store"};
    root(itself).each(
        {.documented = {},
         .read = read,
         .size = [&] { return stores.size(); },
         .name = [&](std::size_t i) { return stores[i].name; },
         .describe = of_each(
             stores, [&d](keys& k, store::named_store& one) { describe_shared(k, one.options, d); }
         ),
         .first =
             {.name = "local",
              .meaning = "the store in memory, by the three keys that follow",
              .summary = "the store in memory"},
         .describe_first = describe_its}
    );
}

}  // namespace gateway::config
