// stores: the local one, which is always there, and the shared ones by name.
#include "config/draft.hpp"
#include "config/ranges.hpp"
#include "config/store_url.hpp"
#include "config/text_rules.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_buckets = 100'000'000;
constexpr base::duration shortest_decision = 1ms;
constexpr base::duration longest_decision = 10s;
constexpr std::size_t longest_key_prefix = 64;

void load_local(const located& value, store::memory_options& options, findings& found)
{
    using when_full = store::memory_options::when_full;
    constexpr words<when_full, 2> choices{{
        {"share", when_full::share},
        {"reject", when_full::reject},
    }};
    section local{value, found};
    local.read_number("max_buckets", options.max_buckets, 1, most_buckets);
    local.read("on_full", options.on_full, choices);
    local.refuse_the_rest();
}

// The longest pause keeps the promise that a store's recovery is noticed within a second.
void load_breaker(section& shared, store::breaker_options& options, findings& found)
{
    const node* value = shared.find("breaker");
    if (value == nullptr) {
        return;
    }
    section breaker{{value, shared.path_of("breaker")}, found};
    breaker.read_number("failures", options.failures, 1, 1000);
    breaker.read_number("decisions", options.decisions, 1, 1'000'000);
    breaker.read("window", options.window, 100ms, 1min);
    breaker.read("pause", options.pause, 10ms, 700ms);
    breaker.refuse_the_rest();
}

store::shared_options load_shared(const located& value, findings& found)
{
    section shared{value, found};
    store::shared_options options;
    const std::string* url = shared.require("url") == nullptr ? nullptr : shared.text("url");
    if (url != nullptr) {
        const auto parsed = parse_store_url(*url);
        if (parsed.value) {
            options = *parsed.value;
        } else {
            shared.problem("url", parsed.complaint);
        }
    }
    store::conversation_options& common = store::common(options);
    shared.read("timeout", common.timeout, shortest_decision, longest_decision);
    if (const std::string* prefix = shared.text("key_prefix")) {
        if (is_visible(*prefix, longest_key_prefix)) {
            common.key_prefix = *prefix;
        } else {
            shared.problem(
                "key_prefix", "expected at most 64 printable ASCII characters without spaces"
            );
        }
    }
    shared.read_number("max_pending", common.max_pending, 1024, 65'536);
    shared.read("remember_rejections", common.remember_rejections);
    load_breaker(shared, common.breaker, found);
    shared.refuse_the_rest();
    return options;
}

}  // namespace

void load_stores(section& root, draft& d, findings& found)
{
    const node* value = root.find("stores");
    if (value == nullptr) {
        return;
    }
    for (const auto& [name, one] : named_entries({value, "stores"}, max_shared_stores + 1, found)) {
        if (name == "local") {
            load_local(one, d.result.local_store, found);
            continue;
        }
        if (d.result.shared_stores.size() == max_shared_stores) {
            found.problem(
                one.value->at,
                one.path,
                "too many shared stores, the maximum is " + std::to_string(max_shared_stores)
            );
            continue;
        }
        d.policy.stores.push_back(name);
        d.stores.push_back({one.value->at, one.path});
        d.result.shared_stores.push_back({name, load_shared(one, found)});
    }
}

}  // namespace gateway::config
