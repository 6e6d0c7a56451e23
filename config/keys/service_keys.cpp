// `describe_rate_limit_services` describes the section `rate_limit_service`: what Envoy may ask,
// and which limits its descriptors are under.
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/envoy/rate_limit_request.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_domain = 255;
constexpr std::string_view any_value = "*";
constexpr const char* expected_entry = "an entry's key, or { KEY: VALUE }";
constexpr std::string_view match_schema =
    R"({"type":"array","minItems":1,"maxItems":16,"items":{"if":{"type":"object"},
        "then":{"minProperties":1,"maxProperties":1,"additionalProperties":{"type":["string"]}},
        "else":{"type":["string"]}}})";

// `service_draft` is a service while it is read, with the origins of its rules.
struct service_draft {
    policy::rate_limit_service service;
    std::vector<origin> rules;
};

std::string take_domain(const std::string& text, std::string& domain)
{
    domain = text;
    return text.empty() || text.size() > longest_domain ? "expected 1 to 255 bytes" : "";
}

// Reads `KEY` or `{ KEY: VALUE }`, of which neither may come from elsewhere: a mapping of one entry
// is always meant as it stands.
std::optional<policy::entry_match> load_entry(const located& item, findings& found)
{
    const node& n = *item.value;
    if (n.is == node::kind::scalar) {
        return policy::entry_match{.key = n.text};
    }
    if (n.is != node::kind::mapping || n.entries.size() != 1 ||
        n.entries[0].value.is != node::kind::scalar) {
        found.problem(item, std::string{"expected "} + expected_entry);
        return std::nullopt;
    }
    policy::entry_match entry{.key = n.entries[0].key.text};
    const std::string& value = n.entries[0].value.text;
    if (value != any_value) {
        entry.value = value;
    }
    if (entry.value && entry.value->ends_with('*')) {
        found.warning(
            item, quote(*entry.value) + " is matched as it stands: only \"*\" alone is any value"
        );
    }
    return entry;
}

void load_match(section& from, policy::descriptor_rule& rule)
{
    constexpr std::string_view if_empty = "expected at least one entry";
    findings& found = from.found();
    from.each_item("match", policy::max_matched_entries, if_empty, [&](const located& item) {
        auto entry = load_entry(item, found);
        if (entry && (entry->key.empty() || entry->key.size() > envoy::max_key_bytes)) {
            found.problem(item, "the key of an entry is 1 to 256 bytes");
        } else if (entry && entry->value && entry->value->size() > envoy::max_value_bytes) {
            found.problem(item, "no value is longer than 64 KiB");
        } else if (entry) {
            rule.match.push_back(std::move(*entry));
        }
    });
}

std::string print_match(const policy::descriptor_rule& rule)
{
    std::string list;
    for (const policy::entry_match& e : rule.match) {
        list += list.empty() ? "" : ", ";
        list += e.value ? "{ " + yaml(e.key) + ": " + yaml(*e.value) + " }" : yaml(e.key);
    }
    return '[' + list + ']';
}

void describe_rule(keys& k, policy::descriptor_rule& rule, const std::vector<std::string>& names)
{
    k("match",
      "the entries that a descriptor has, all of them and in this order: `KEY`, or `{ KEY: \"*\" "
      "}`, "
      "with any value, or `{ KEY: VALUE }`",
      required)
        .other(
            {.documented = {"none", "1 to 16 entries; keys of 1 to 256 bytes"},
             .schema = std::string{match_schema},
             .read = [&](section& from) { load_match(from, rule); },
             .print = [&] { return print_match(rule); }}
        );
    k("limits", "names of limits, whose keys are made of `descriptor:KEY`; none is no limit")
        .references(rule.limits, policy::max_limits_per_route, "limit", names);
}

void describe_service(keys& k, service_draft& s, const std::vector<std::string>& names)
{
    std::vector<policy::descriptor_rule>& rules = s.service.descriptors;
    k("domain", "the `domain` that Envoy's filter has. Another one has no limits", required)
        .text(
            s.service.domain,
            {"none", "1 to 255 bytes"},
            take_domain,
            R"({"type":"string","minLength":1,"maxLength":255})"
        );
    const auto read = [&](section& from) {
        from.each_item("descriptors", policy::max_descriptor_rules, {}, [&](const located& one) {
            policy::descriptor_rule rule;
            read_mapping(one, from.found(), [&](keys& inner) {
                describe_rule(inner, rule, names);
            });
            rules.push_back(std::move(rule));
            s.rules.push_back(one);
        });
    };
    k("descriptors",
      "which descriptors have which limits: the first that matches, in this order. A descriptor "
      "that "
      "none matches has no limit",
      required)
        .each(
            {.documented = {"none", "at most 1000"},
             .named = false,
             .read = read,
             .size = [&] { return rules.size(); },
             .describe = of_each(
                 rules,
                 [&](keys& inner, policy::descriptor_rule& r) { describe_rule(inner, r, names); }
             )}
        );
}

}  // namespace

void describe_rate_limit_services(keys& root, draft& d)
{
    std::vector<policy::rate_limit_service>& services = d.policy.services;
    const std::vector<std::string> names = names_in(d.policy.limits);
    const auto read = [&](section& from) {
        for (const auto& [name, one] :
             from.named("rate_limit_service", policy::max_rate_limit_services)) {
            service_draft s{
                .service = {.name = name, .domain = {}, .descriptors = {}}, .rules = {}};
            read_mapping(one, from.found(), [&](keys& k) { describe_service(k, s, names); });
            services.push_back(std::move(s.service));
            d.services.push_back({one, std::move(s.rules)});
        }
    };
    const auto describe = [&](std::size_t i, keys& k) {
        service_draft s{};
        if (i < services.size()) {
            s.service = services[i];
        }
        describe_service(k, s, names);
    };
    constexpr key itself{
        .name = "rate_limit_service",
        .summary = "rate-limit services for Envoy, by name: which descriptors have which limits"};
    root(itself).each(
        {.documented = {},
         .read = read,
         .size = [&] { return services.size(); },
         .name = [&](std::size_t i) { return services[i].name; },
         .describe = describe}
    );
}

}  // namespace gateway::config
