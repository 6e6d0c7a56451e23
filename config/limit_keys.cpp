// limits: their keys, rates and stores.
#include "config/draft.hpp"
#include "config/text_rules.hpp"
#include "config/unit_hints.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using source = policy::key_part::source;

constexpr std::size_t longest_part_name = 128;
constexpr std::uint64_t most_tokens = 1'000'000'000'000;
constexpr const char* expected_part =
    "client_ip, header:NAME, cookie:NAME, query:NAME, method, host, path or route";

constexpr words<source, 5> whole_parts{{
    {"client_ip", source::client_ip},
    {"method", source::method},
    {"host", source::host},
    {"path", source::path},
    {"route", source::route},
}};

constexpr words<source, 3> named_parts{{
    {"header:", source::header},
    {"cookie:", source::cookie},
    {"query:", source::query},
}};

constexpr words<policy::missing_key, 3> missing_keys{{
    {"reject", policy::missing_key::reject},
    {"skip", policy::missing_key::skip},
    {"client_ip", policy::missing_key::client_ip},
}};

constexpr words<policy::failure_policy, 3> failure_policies{{
    {"open", policy::failure_policy::open},
    {"closed", policy::failure_policy::closed},
    {"local", policy::failure_policy::local},
}};

constexpr words<policy::mode, 2> modes{{
    {"enforce", policy::mode::enforce},
    {"shadow", policy::mode::shadow},
}};

std::vector<policy::key_part> load_key(section& from, findings& found)
{
    const node* value = from.require("key");
    if (value == nullptr) {
        return {};
    }
    std::vector<policy::key_part> key;
    const located whole{value, from.path_of("key")};
    if (value->is != node::kind::list) {
        if (auto part = parse_key_part(whole, found)) {
            key.push_back(std::move(*part));
        }
        return key;
    }
    if (!within(whole, policy::max_key_parts, found)) {
        return {};
    }
    for (std::size_t i = 0; i < value->items.size(); ++i) {
        const located item = item_of(whole, i);
        auto part = parse_key_part(item, found);
        if (!part) {
            continue;
        }
        const auto same = [&](const policy::key_part& k) {
            return k.from == part->from && k.name == part->name;
        };
        if (std::any_of(key.begin(), key.end(), same)) {
            found.problem(item.value->at, item.path, "this part is in the key already");
        }
        key.push_back(std::move(*part));
    }
    return key;
}

// Marks the headers that the upstream gets from trusted peers only, whether frameworks know them or
// our own client.header is one, and warns of them.
void mark_what_only_trusted_peers_say(
    section& from, policy::limit_rule& rule, const identity::client_options& client
)
{
    const std::string identity = base::lower_case(client.header);
    const bool by_hops = client.trusted_proxies.empty() && client.trusted_hops > 0;
    const bool from_nobody = client.trusted_proxies.empty() && client.trusted_hops == 0;
    for (policy::key_part& part : rule.key) {
        part.from_trusted_peers =
            part.from == source::header &&
            (http::from_trusted_peers.contains(http::classify(part.name)) || part.name == identity);
        if (part.from_trusted_peers && !by_hops) {
            from.warning(
                "key",
                part.name + " is taken from trusted proxies only" +
                    (from_nobody ? ", and client.trusted_proxies names none: it is always absent"
                                 : ": it is absent from a request of any other peer")
            );
        }
    }
}

void load_missing_key(section& from, policy::limit_rule& rule)
{
    from.read("missing_key", rule.when_missing, missing_keys);
    const auto absent = std::find_if(rule.key.begin(), rule.key.end(), [](const auto& part) {
        return part.can_be_absent();
    });
    if (absent != rule.key.end() && !from.has("missing_key")) {
        from.problem(
            "missing_key",
            "missing: a request may come without this limit's key, so choose reject, skip or "
            "client_ip"
        );
    }
}

// Nothing after a problem.
std::optional<rate> load_rate(section& from)
{
    const std::string* text = from.require("rate") == nullptr ? nullptr : from.text("rate");
    if (text == nullptr) {
        return std::nullopt;
    }
    const auto written = parse_rate(*text);
    if (!written) {
        from.problem(
            "rate",
            "expected a rate such as 100/m or 10/10s, got " + quoted(*text) + rate_hint(*text)
        );
        return std::nullopt;
    }
    if (static_cast<std::uint64_t>(written->tokens) > most_tokens) {
        from.problem("rate", "too many tokens, the maximum is " + std::to_string(most_tokens));
        return std::nullopt;
    }
    if (written->tokens > written->period.count()) {
        from.problem("rate", "too fast, the maximum is one token per nanosecond");
        return std::nullopt;
    }
    return written;
}

// The algebra of the limit; nothing after a problem.
std::optional<limit::limit> load_algebra(section& from, policy::limit_rule& rule, rate& out)
{
    const auto written = load_rate(from);
    std::int64_t burst = written ? written->tokens : 1;
    from.read_number("burst", burst, 1, most_tokens);
    from.read_number("cost", rule.cost, 1, most_tokens);
    if (!written) {
        return std::nullopt;
    }
    if (rule.cost > burst) {
        from.problem(
            "cost",
            "more than the burst of " + std::to_string(burst) + ": no request could ever pass"
        );
    }
    out = *written;
    const auto made = limit::limit::make(written->tokens, written->period, burst);
    if (!made) {
        from.problem(
            from.has("burst") ? "burst" : "rate",
            "a refill of " + std::to_string(burst) +
                " tokens would take too long, the maximum is 100 years"
        );
    }
    return made;
}

void load_store(
    section& from, policy::limit_rule& rule, const rate& written, const draft& d, findings& found
)
{
    if (const node* value = from.find("store")) {
        const located name{value, from.path_of("store")};
        std::vector<std::string> known = d.policy.stores;
        known.emplace_back("local");
        const auto store = resolve(name, "store", known, found);
        if (store && *store < d.policy.stores.size()) {
            rule.store = *store;
        }
    }
    using std::chrono::microseconds;
    if (rule.store != policy::local_store && written.tokens > written.period / microseconds{1}) {
        from.problem(
            "rate", "too fast for a shared store, the maximum is one token per microsecond"
        );
    }
    from.read("on_store_failure", rule.on_store_failure, failure_policies);
    if (rule.store == policy::local_store &&
        rule.on_store_failure != policy::failure_policy::open) {
        from.warning("on_store_failure", "has no effect with store: local, which does not fail");
    }
}

// A header that the upstream never gets cannot be a key's: a client could pick fresh buckets with
// values that change nothing. What it gets as Host is the part `host`, which an absolute target may
// overrule (RFC 9112 §3.2.2).
std::optional<policy::key_part> header_part(
    const located& part, const std::string& name, findings& found
)
{
    const http::field_name id = http::classify(name);
    if (id == http::field_name::host) {
        return policy::key_part{.from = source::host, .name = {}};
    }
    if (http::hop_by_hop.contains(id)) {
        found.problem(part.value->at, part.path, name + " never reaches the upstream");
        return std::nullopt;
    }
    return policy::key_part{.from = source::header, .name = base::lower_case(name)};
}

// `header: X-Api-Key` is a mapping in YAML; what was meant is "header:X-Api-Key".
std::optional<std::string> part_without_space(const node& part)
{
    if (part.entries.size() != 1 || part.entries[0].value.is != node::kind::scalar) {
        return std::nullopt;
    }
    const std::string prefix = part.entries[0].key.text + ':';
    const auto same = [&](const auto& named) { return named.first == prefix; };
    if (std::none_of(named_parts.begin(), named_parts.end(), same)) {
        return std::nullopt;
    }
    const std::string& name = part.entries[0].value.text;
    return is_visible(name, longest_part_name) ? std::optional{prefix + name} : std::nullopt;
}

}  // namespace

std::optional<policy::key_part> parse_key_part(const located& part, findings& found)
{
    if (const auto meant = part_without_space(*part.value)) {
        found.problem(part.value->at, part.path, "write it without a space: \"" + *meant + '"');
        return std::nullopt;
    }
    const std::string* text = scalar_text(part, expected_part, found);
    if (text == nullptr) {
        return std::nullopt;
    }
    for (const auto& [word, from] : whole_parts) {
        if (*text == word) {
            return policy::key_part{.from = from, .name = {}};
        }
    }
    for (const auto& [prefix, from] : named_parts) {
        if (!text->starts_with(prefix)) {
            continue;
        }
        const std::string name = text->substr(prefix.size());
        const bool valid = from == source::query
                               ? !name.empty() && is_visible(name, longest_part_name)
                               : is_token(name, longest_part_name);
        if (!valid) {
            found.problem(
                part.value->at, part.path, "not a name to follow \"" + std::string{prefix} + "\""
            );
            return std::nullopt;
        }
        return from == source::header ? header_part(part, name, found)
                                      : policy::key_part{.from = from, .name = name};
    }
    found.problem(
        part.value->at,
        part.path,
        std::string{"expected "} + expected_part + ", got " + quoted(*text)
    );
    return std::nullopt;
}

void load_limits(section& root, draft& d, findings& found)
{
    const node* value = root.find("limits");
    if (value == nullptr) {
        return;
    }
    for (const auto& [name, one] : named_entries({value, "limits"}, max_limits, found)) {
        section from{one, found};
        // Stands in after a problem, so that routes can still refer to this limit.
        policy::limit_rule rule{
            .name = name, .key = {}, .limit = *limit::limit::make(1, std::chrono::seconds{1}, 1)};
        rule.key = load_key(from, found);
        mark_what_only_trusted_peers_say(from, rule, d.policy.client);
        load_missing_key(from, rule);
        rate written;
        rule.limit = load_algebra(from, rule, written).value_or(rule.limit);
        load_store(from, rule, written, d, found);
        from.read("mode", rule.mode, modes);
        from.refuse_the_rest();
        d.policy.limits.push_back(std::move(rule));
        d.result.rates.push_back(written);
        d.limits.push_back({one.value->at, one.path});
    }
}

}  // namespace gateway::config
