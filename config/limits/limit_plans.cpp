// Keys `plan` and `plans` of a limit: what it is to each plan.
#include "config/limits/limit_sections.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using rule_kind = policy::plan_rule::kind;

constexpr std::string_view plans_schema = R"({"type":"object","additionalProperties":{
    "if":{"type":"object"},
    "then":{"additionalProperties":false,"properties":{
        "rate":{"description":"rate of this plan","type":"string","pattern":"^[1-9][0-9]*/([1-9][0-9]*(ms|s|m|h|d)|[smhdw]|mo)$"},
        "burst":{"description":"burst of this plan","type":"integer","minimum":1,"maximum":1000000000000},
        "capacity":{"description":"capacity of this plan","type":"integer","minimum":1,"maximum":1000000000000},
        "max":{"description":"requests in flight of this plan","type":"integer","minimum":1,"maximum":1000000000000}}},
    "else":{"enum":["unlimited","blocked"]}}})";

constexpr words<rule_kind, 2> plan_words{
    {{"unlimited", rule_kind::unlimited}, {"blocked", rule_kind::blocked}}};

// Loads the numbers of the limit for one plan from a mapping.
void load_numbers(
    section& from, const limit_draft& l, policy::plan_rule& rule, written_plan& written, draft& d
)
{
    limit_draft own = l;
    own.of_plan = true;
    load_plan_numbers(from, own, d);
    split_in_shards(from, own);
    from.refuse_the_rest();
    rule.limit = own.rule.limit;
    rule.rate = own.rule.rate;
    written.rate = own.written.rate;
}

rule_kind load_word(const located& rule, findings& found)
{
    const std::string expected = "{ rate: ... }, unlimited or blocked";
    const std::string* const text = scalar_text(rule, expected, found);
    for (const auto& [word, what] : plan_words) {
        if (text != nullptr && *text == word) {
            return what;
        }
    }
    if (text != nullptr) {
        found.problem(
            rule,
            "expected " + expected + ", got " + quote(*text) +
                found.suggestion(*text, names_of(plan_words))
        );
    }
    return rule_kind::limited;
}

// Reports a plan that nobody can have. It is only a warning if the plans are in a file of their
// own, where somebody may get it later.
void check_plan_name(
    const std::string& name,
    const located& where,
    const limit_draft& l,
    const draft& d,
    findings& found
)
{
    const policy::plan_section& section = d.policy.plans[l.rule.plan.plans];
    std::vector<std::string_view> known{
        section.members->names().begin(), section.members->names().end()};
    if (!section.standard.empty()) {
        known.push_back(section.standard);
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        return;
    }
    const std::string message =
        "nobody has this plan in plans." + section.name + found.suggestion(name, known);
    if (d.result.written_plans[l.rule.plan.plans].file.empty()) {
        found.problem(where, message);
    } else {
        found.warning(where, message);
    }
}

void load_plan_rules(section& from, limit_draft& l, draft& d)
{
    findings& found = from.found();
    for (const auto& [name, one] : from.named("plans", policy::max_plan_names)) {
        policy::plan_rule rule{.name = name, .what = rule_kind::limited, .limit = l.rule.limit};
        written_plan written;
        if (one.value->is == node::kind::mapping) {
            section numbers{one, found};
            load_numbers(numbers, l, rule, written, d);
        } else {
            rule.what = load_word(one, found);
        }
        if (l.rule.plan.plans != policy::no_plans) {
            check_plan_name(name, one, l, d, found);
        }
        l.rule.plan.rules.push_back(std::move(rule));
        l.written.plans.push_back(written);
    }
}

void check_plan_keys(section& from, const limit_draft& l)
{
    if (from.has("plans") && !from.has("plan")) {
        from.problem("plans", "has no effect without \"plan\", which says whose plans these are");
    }
    if (from.has("plan") && !from.has("plans") && l.rule.plan.plans != policy::no_plans) {
        from.problem("plan", "has no effect without \"plans\": every plan has the same numbers");
    }
}

std::string print_plan_rule(const limit_draft& l, std::size_t i)
{
    const policy::plan_rule& rule = l.rule.plan.rules[i];
    if (rule.what != rule_kind::limited) {
        return name_of(rule.what, plan_words);
    }
    std::string numbers;
    if (!counts_requests(l)) {
        numbers = "rate: " + format_rate(l.written.plans[i].rate);
    }
    if (const std::string_view size = size_key(l.written.algorithm); !size.empty()) {
        numbers += (numbers.empty() ? "" : ", ") + std::string{size} + ": " +
                   std::to_string(rule.limit.burst());
    }
    return "{ " + numbers + " }";
}

std::string print_plan_rules(const limit_draft& l)
{
    std::string all;
    for (std::size_t i = 0; i < l.rule.plan.rules.size(); ++i) {
        all += (all.empty() ? "" : ", ") + yaml(l.rule.plan.rules[i].name) + ": " +
               print_plan_rule(l, i);
    }
    return all.empty() ? "" : "{ " + all + " }";
}

}  // namespace

void describe_limit_plans(keys& k, limit_draft& l, draft& d)
{
    const std::vector<std::string> known = names_in(d.policy.plans);
    k("plan", "the element of the file's `plans` whose plans this limit names")
        .reference(
            l.rule.plan.plans,
            {"none", "a name in `plans` of the file"},
            "section of \"plans\"",
            known
        );
    k("plans",
      "says what the limit is for each plan: other numbers (`rate`, and `burst` or `capacity`; "
      "or `max`), `unlimited`, or `blocked` (403). A plan not named here has the limit's own "
      "numbers")
        .other(
            {.documented = {"none", "`{ gold: { rate: 1000/m }, staff: unlimited }`, at most 255"},
             .schema = std::string{plans_schema},
             .read = [&](section& from) { load_plan_rules(from, l, d); },
             .print = [&] { return print_plan_rules(l); }}
        );
    k.rule([&](section& from) { check_plan_keys(from, l); });
}

}  // namespace gateway::config
