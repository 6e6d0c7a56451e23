// `describe_stores` describes the section `stores`: the local store, which is always there, and the
// shared ones by name.
#include "config/keys/postgres_keys.hpp"
#include "config/keys/reading.hpp"
#include "config/keys/server_url_keys.hpp"
#include "config/sections.hpp"
#include "config/text/ranges.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/store/memory/snapshot_file.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_buckets = 100'000'000;
constexpr base::duration shortest_decision = 1ms;
constexpr base::duration longest_decision = 10s;
constexpr std::size_t longest_key_prefix = 64;
constexpr base::duration shortest_snapshot = 1s;
constexpr base::duration longest_snapshot = 1h;

void describe_snapshot(keys& snapshot, store::snapshot_options& options, const draft& d)
{
    snapshot.other(
        {"file",
         "where it is: written beside and renamed. From the folder of the configuration, if it is "
         "no absolute path. A gateway's own: two that run need two"},
        {.says = {"none", "a path"},
         .read =
             [&](section& from) {
                 const std::string* const path = from.text("file");
                 if (path == nullptr) {
                     return;
                 }
                 options.file = beside(d, *path);
                 if (path->empty() || path->ends_with('/')) {
                     from.problem("file", "expected the name of a file");
                 } else if (const auto wrong = store::complaint_about_path(options.file)) {
                     from.problem("file", quote(*path) + ' ' + *wrong);
                 }
             },
         .print = [&] { return yaml(options.file); }}
    );
    snapshot.time(
        {"interval", "how often it is written; and at the end"},
        options.interval,
        shortest_snapshot,
        longest_snapshot
    );
}

void describe_local(keys& local, store::memory_options& options, const draft& d)
{
    using when_full = store::memory_options::when_full;
    constexpr words<when_full, 2> choices{{
        {"share", when_full::share},
        {"reject", when_full::reject},
    }};
    local.number(
        {"max_buckets", "size of the table. Only a bucket that is full anyway is ever forgotten"},
        options.max_buckets,
        1,
        most_buckets
    );
    local.word(
        {"on_full",
         "when there is nothing to forget: `share` charges new clients of a limit to one bucket "
         "of that limit, `reject` answers 503"},
        options.on_full,
        choices
    );
    std::optional<store::snapshot_options>& snapshot = options.snapshot;
    local.mapping(
        {"snapshot", "a file from which a restart goes on; the keys below"},
        [&](keys& k) { describe_snapshot(k, snapshot ? *snapshot : snapshot.emplace(), d); },
        snapshot.has_value()
    );
}

// Describes `breaker`. The longest pause keeps the promise that a store's recovery is noticed
// within a second.
void describe_breaker(keys& breaker, store::breaker_options& options)
{
    breaker.number({"failures", "it opens after so many in a row,"}, options.failures, 1, 1000);
    breaker.number(
        {"decisions", "or when half of at least so many failed"}, options.decisions, 1, 1'000'000
    );
    breaker.time({"window", "within that time"}, options.window, 100ms, 1min);
    breaker.time(
        {"pause",
         "before each probe: two thirds of it at least, at random. Recovery takes a second at "
         "most, so there is no longer one"},
        options.pause,
        10ms,
        700ms
    );
}

void load_key_prefix(section& from, std::string& prefix)
{
    const std::string* text = from.text("key_prefix");
    if (text == nullptr) {
        return;
    }
    if (is_visible(*text, longest_key_prefix)) {
        prefix = *text;
    } else {
        from.problem("key_prefix", "expected at most 64 printable ASCII characters without spaces");
    }
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

void describe_shared(keys& shared, store::shared_options& options, const draft& d)
{
    describe_server_url(shared, options, d);
    store::conversation_options& common = store::common(options);
    shared.time(
        {"timeout", "a decision takes no longer than this, whatever the store does"},
        common.timeout,
        shortest_decision,
        longest_decision
    );
    shared.other(
        {"key_prefix", "of our keys in the store"},
        {.says = {"`\"gw:\"`", "at most 64 characters"},
         .schema = R"({"type":"string","maxLength":64})",
         .read = [&](section& from) { load_key_prefix(from, common.key_prefix); },
         .print = [&] { return yaml(common.key_prefix); }}
    );
    shared.rule([&options](section& from) { check_prefix(from, options); });
    shared.number(
        {"max_pending",
         "questions without an answer yet, per worker; past it a decision fails at once. More "
         "than a worker has connections, or a client with very many could fill it"},
        common.max_pending,
        1024,
        65'536
    );
    shared.flag(
        {"remember_rejections",
         "a bucket that the store called empty is rejected by the worker that heard so, without "
         "asking, until the moment that the store named; see docs/operations.md for what cuts that "
         "short. Off: a bucket that somebody deletes in Redis is full at once, and a client far "
         "over "
         "its limit costs a question each time"},
        common.remember_rejections
    );
    describe_postgres(shared, options);
    shared.mapping(
        {"breaker", "when the store is not asked any more; the keys below"},
        [&](keys& breaker) { describe_breaker(breaker, common.breaker); }
    );
}

void load_shared(const std::string& name, const located& one, draft& d, findings& found)
{
    if (d.result.shared_stores.size() == max_shared_stores) {
        found.problem(
            one.value->at,
            one.path,
            "too many shared stores, the maximum is " + std::to_string(max_shared_stores)
        );
        return;
    }
    store::shared_options options;
    reading::all(one, found, [&](keys& shared) { describe_shared(shared, options, d); });
    d.policy.stores.push_back(name);
    d.stores.push_back({one.value->at, one.path});
    d.result.shared_stores.push_back({name, std::move(options)});
}

void load_stores(section& root, draft& d)
{
    findings& found = root.found();
    const located all{root.find("stores"), "stores"};
    for (const auto& [name, one] : named_entries(all, max_shared_stores + 1, found)) {
        if (name == "local") {
            reading::all(one, found, [&d](keys& local) {
                describe_local(local, d.result.local_store, d);
            });
        } else {
            load_shared(name, one, d, found);
        }
    }
}

}  // namespace

void describe_stores(keys& root, draft& d)
{
    std::vector<store::named_store>& stores = d.result.shared_stores;
    root.each(
        {"stores", {}},
        {.says = {},
         .read = [&](section& from) { load_stores(from, d); },
         .size = [&] { return stores.size(); },
         .name = [&](std::size_t i) { return stores[i].name; },
         .describe = of_each(
             stores, [&d](keys& k, store::named_store& one) { describe_shared(k, one.options, d); }
         ),
         .first = {"local", "the three keys that follow"},
         .describe_first = [&](keys& local) { describe_local(local, d.result.local_store, d); }}
    );
}

}  // namespace gateway::config
