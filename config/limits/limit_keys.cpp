// Section `limits` of `gateway.yaml`: the keys of each limit, its store and its mode.
#include "config/keys/key_parts.hpp"
#include "config/limits/limit_sections.hpp"
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr words<policy::missing_key, 3> missing_keys{
    {{"reject", policy::missing_key::reject},
     {"skip", policy::missing_key::skip},
     {"client_ip", policy::missing_key::client_ip}}};

constexpr words<policy::failure_policy, 3> failure_policies{
    {{"open", policy::failure_policy::open},
     {"closed", policy::failure_policy::closed},
     {"local", policy::failure_policy::local}}};

constexpr words<policy::mode, 2> modes{
    {{"enforce", policy::mode::enforce}, {"shadow", policy::mode::shadow}}};

void require_missing_key(section& from, const policy::limit_rule& rule)
{
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

void load_store(section& from, policy::limit_rule& rule, const draft& d)
{
    std::vector<std::string> known = d.policy.stores;
    known.emplace_back("local");
    const auto store = from.reference("store", "store", known);
    rule.store = store && *store < d.policy.stores.size() ? *store : policy::local_store;
}

void check_speed(section& from, const char* key, const rate& written)
{
    using std::chrono::microseconds;
    if (written.tokens > written.period / microseconds{1}) {
        from.problem(key, "too fast for a shared store, the maximum is one token per microsecond");
    }
}

void check_store(section& from, const limit_draft& l)
{
    const bool local = l.rule.store == policy::local_store;
    if (!local) {
        check_speed(from, "rate", l.written.rate);
        check_speed(
            from, "rate", {.tokens = l.rule.claimed.tokens.max, .period = l.written.rate.period}
        );
        for (const written_plan& plan : l.written.plans) {
            check_speed(from, "plans", plan.rate);
        }
    }
    if (local && l.rule.on_store_failure != policy::failure_policy::open) {
        from.warning("on_store_failure", "has no effect with store: local, which does not fail");
    }
}

// Warns of a sliding limit that a response may charge more than its request has taken. The bucket
// cannot owe that for longer than a window, however much it is.
void warn_of_forgotten_debt(section& from, const limit_draft& l)
{
    const policy::cost_rule& cost = l.rule.cost;
    const bool is_fixed = cost.from == policy::cost_rule::source::fixed;
    const bool may_owe = !is_fixed || cost.standard < l.rule.outcome.settle_max;
    if (slides(l) && l.rule.outcome.settles() && may_owe) {
        from.warning(
            "settle",
            "a response that costs more than its request has taken is forgotten after one window, "
            "so that clients may exceed the limit: use token_bucket or fixed_window, which keep "
            "the debt"
        );
    }
}

void describe_key(keys& k, limit_draft& l, const draft& d)
{
    const auto read = [&](section& from) {
        l.rule.key = load_key(from);
        mark_headers_of_trusted_peers(from.value("key"), l.rule.key, d.policy.client, from.found());
    };
    const auto print = [&] {
        return yaml_list(l.rule.key, [](const auto& part) { return to_text(part); });
    };
    k("key",
      "says which requests share a bucket: those with the same part, or the same list of parts; "
      "`[]` is one bucket for everybody",
      required)
        .other(
            {.documented = {"none", "at most 8 parts"},
             .schema =
                 R"({"if":{"type":"array"},"then":{"maxItems":8,"items":{"$ref":"#/$defs/key_part"}},
             "else":{"$ref":"#/$defs/key_part"}})",
             .read = read,
             .print = print}
        );
    const auto read_missing = [&](section& from) {
        if (const auto index = from.choice("missing_key", names_of(missing_keys))) {
            l.rule.when_missing = missing_keys[*index].second;
        }
    };
    k("missing_key",
      "says what becomes of a request without a part of the key; it must be written if a part "
      "can be absent")
        .other(
            {.documented = {"none", "`reject`, `skip`, `client_ip`"},
             .schema = R"({"enum":["reject","skip","client_ip"]})",
             .read = read_missing,
             .print = [&] { return name_of(l.rule.when_missing, missing_keys); }}
        );
    k.rule([&](section& from) {
        require_missing_key(from, l.rule);
        require_jwt(from.value("key"), l.rule.key, d, from.found());
        require_certificates(from.value("key"), l.rule.key, d, from.found());
    });
}

void describe_waiting(keys& k, limit_draft& l)
{
    k("max_wait",
      "bounds how long a request may be held until its tokens are there, instead of being "
      "rejected. The first to come is the first to go on, and requests are spaced as `rate` "
      "says")
        .time(l.rule.max_wait, {0s, limit::limit::max_wait});
    k("max_reserved",
      "bounds the tokens that requests may be ahead of their bucket while they wait")
        .number(l.rule.max_reserved, {1, most_tokens});
    k.rule([&](section& from) {
        if (from.has("max_reserved") && !from.has("max_wait")) {
            from.problem("max_reserved", "has no effect without \"max_wait\"");
        }
        refuse_foreign_values(from, l);
    });
}

void describe_limit(keys& k, limit_draft& l, draft& d)
{
    describe_key(k, l, d);
    describe_rate(k, l, d);
    const auto store = [&] {
        const bool local = l.rule.store == policy::local_store;
        return local ? "local" : yaml(d.policy.stores[l.rule.store]);
    };
    k("store", "the store in which the limit's buckets live")
        .other(
            {.documented = {"`local`", "a name in `stores`"},
             .read = [&](section& from) { load_store(from, l.rule, d); },
             .print = store}
        );
    describe_waiting(k, l);
    describe_penalty(k, l.rule.penalty);
    describe_shards(k, l);
    k("jitter",
      "the percentage of Retry-After of which a random part is added to it, so that clients do "
      "not all come back in the same moment")
        .number(l.rule.jitter, {0, 100});
    describe_reports(k, l.rule);
    k("on_store_failure",
      "says what becomes of requests when a shared store fails (below). With `store: local` it "
      "has no effect, and `closed` and `local` are warned of")
        .word(l.rule.on_store_failure, failure_policies);
    describe_limit_plans(k, l, d);
    describe_local_share(k, l);
    k.rule([&](section& from) {
        check_lease(from, l);
        check_claims(from, l, d);
        check_store(from, l);
        warn_of_forgotten_debt(from, l);
    });
    k("mode", "`shadow` decides, counts and logs, but never rejects: for trying a limit out")
        .word(l.rule.mode, modes);
}

// Returns a limit that stands in after a problem, so that routes can still refer to it.
limit_draft fresh_limit(std::string name)
{
    return {
        .rule =
            {.name = std::move(name),
             .key = {},
             .limit = *limit::limit::make(1, std::chrono::seconds{1}, 1)},
        .written = {}};
}

}  // namespace

void describe_limits(keys& root, draft& d)
{
    const std::vector<policy::limit_rule>& limits = d.policy.limits;
    const auto read = [&](section& from) {
        for (const auto& [name, one] : from.named("limits", max_limits)) {
            limit_draft l = fresh_limit(name);
            read_mapping(one, from.found(), [&](keys& k) { describe_limit(k, l, d); });
            d.policy.limits.push_back(std::move(l.rule));
            d.result.written_limits.push_back(std::move(l.written));
            d.limits.push_back(one);
        }
    };
    const auto describe = [&](std::size_t i, keys& k) {
        limit_draft l = fresh_limit({});
        if (i < limits.size()) {
            l = {limits[i], d.result.written_limits[i], true, limits[i].limit.burst()};
        }
        describe_limit(k, l, d);
    };
    constexpr key itself{
        .name = "limits", .summary = "limits by name: how much of what is allowed"};
    root(itself).each(
        {.documented = {},
         .read = read,
         .size = [&] { return limits.size(); },
         .name = [&](std::size_t i) { return limits[i].name; },
         .describe = describe}
    );
}

}  // namespace gateway::config
