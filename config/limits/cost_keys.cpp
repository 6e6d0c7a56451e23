// Key `cost` of a limit: a number, or where a request says it.
#include "config/limits/limit_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

using cost_source = policy::cost_rule::source;

constexpr words<bool, 2> reserves{{{"cap", true}, {"refuse", false}}};

constexpr std::size_t longest_cost_name = 128;
constexpr std::size_t most_cost_methods = 32;

constexpr std::string_view schema = R"({"if":{"type":"object"},
    "then":{"additionalProperties":false,"minProperties":1,"properties":{
        "header":{"type":"string","description":"a request header that says the cost"},
        "query":{"type":"string","description":"a query parameter that says the cost"},
        "methods":{"description":"cost of each method","type":"object","propertyNames":{"pattern":"^(?!CONNECT$)[^a-z ]+$"},"additionalProperties":{"type":"integer","minimum":0,"maximum":1000000000000}},
        "json":{"type":"string","description":"path of a member of the request's JSON content that says the cost"},
        "request_bytes":{"description":"bytes of the content that cost one token","type":"integer","minimum":1,"maximum":1000000000000},
        "sum":{"description":"costs by content that are added up","type":"array","minItems":1,"maxItems":8,"items":{"type":"object","additionalProperties":false,"properties":{
            "json":{"type":"string","description":"path of the member"},
            "request_bytes":{"description":"bytes that cost one token","type":"integer","minimum":1,"maximum":1000000000000},
            "default":{"description":"cost if the member is absent, or until the bytes are known","type":"integer","minimum":0,"maximum":1000000000000},
            "max":{"description":"the largest cost that counts","type":"integer","minimum":1,"maximum":1000000000000}}}},
        "default":{"description":"cost of other requests","type":"integer","minimum":0,"maximum":1000000000000},
        "max":{"description":"the largest cost that a request may say","type":"integer","minimum":1,"maximum":1000000000000}}},
    "else":{"type":"integer","minimum":1,"maximum":1000000000000}})";

void read_cost_methods(section& from, policy::cost_rule& cost)
{
    section methods = from.inside("methods");
    for (const entry& e : from.find("methods")->entries) {
        const std::string& name = e.key.text;
        const auto tokens = methods.number(name, 0, most_tokens);
        if (const std::string complaint = complaint_about_method(name); !complaint.empty()) {
            methods.problem(name, complaint);
        } else if (cost.methods.size() == most_cost_methods) {
            methods.problem(name, "too many, the maximum is 32");
        } else if (tokens && methods.is_first(e)) {
            cost.methods.emplace_back(name, static_cast<std::int64_t>(*tokens));
        }
    }
}

// Reads the name of the header or query parameter that says the cost.
void read_cost_name(section& from, policy::cost_rule& cost)
{
    const bool header = cost.from == cost_source::header;
    const std::string_view key = header ? "header" : "query";
    const std::string* const name = from.text(key);
    if (name == nullptr) {
        return;
    }
    const bool valid = header ? is_token(*name, longest_cost_name)
                              : !name->empty() && is_visible(*name, longest_cost_name);
    if (!valid) {
        from.problem(key, "not a name");
    } else if (header && http::hop_by_hop.contains(http::classify(*name))) {
        from.problem(key, *name + " belongs to the connection, not to the request");
    }
    cost.name = header ? base::lower_case(*name) : *name;
}

void read_bounds(section& from, policy::cost_rule& cost)
{
    from.take_number("default", cost.standard, {0, most_tokens});
    if (cost.from == cost_source::methods) {
        return;
    }
    if (!from.has("max")) {
        from.problem("max", "missing: the most that a request may say");
    }
    if (from.take_number("max", cost.max, {1, most_tokens}) && cost.standard > cost.max) {
        from.problem("default", "more than \"max\"");
    }
}

void read_request_cost(section& limit, policy::cost_rule& cost)
{
    section from = limit.inside("cost");
    int sources = 0;
    for (const auto& [key, what] :
         {std::pair{"header", cost_source::header},
          std::pair{"query", cost_source::query},
          std::pair{"methods", cost_source::methods},
          std::pair{"json", cost_source::content},
          std::pair{"request_bytes", cost_source::content},
          std::pair{"sum", cost_source::content}}) {
        if (from.has(key)) {
            cost.from = what;
            ++sources;
        }
    }
    if (sources != 1) {
        limit.problem(
            "cost",
            "expected a number, or one of header, query, methods, json, request_bytes and sum"
        );
        return;
    }
    if (cost.from == cost_source::content) {
        read_content_cost(from, cost);
    } else {
        cost.from == cost_source::methods ? read_cost_methods(from, cost)
                                          : read_cost_name(from, cost);
        read_bounds(from, cost);
    }
    from.refuse_the_rest();
}

void read_cost(section& from, policy::cost_rule& cost)
{
    if (from.find("cost")->is == node::kind::mapping) {
        read_request_cost(from, cost);
    } else {
        from.take_number("cost", cost.standard, {1, most_tokens});
    }
}

std::string print_cost(const policy::cost_rule& cost)
{
    if (cost.from == cost_source::content) {
        return print_content_cost(cost);
    }
    std::string standard = std::to_string(cost.standard);
    if (cost.from == cost_source::fixed) {
        return standard;
    }
    if (cost.from == cost_source::methods) {
        std::string methods;
        for (const auto& [method, tokens] : cost.methods) {
            methods += (methods.empty() ? "" : ", ") + yaml(method) + ": " + std::to_string(tokens);
        }
        return "{ methods: { " + methods + " }, default: " + standard + " }";
    }
    return std::string{"{ "} + (cost.from == cost_source::header ? "header: " : "query: ") +
           yaml(cost.name) + ", default: " + standard + ", max: " + std::to_string(cost.max) + " }";
}

}  // namespace

void describe_cost(keys& k, policy::cost_rule& cost)
{
    k("cost", "the tokens that a request takes: a number, or where the request says it (below)")
        .other(
            {.documented = {"`1`", "1 to `burst` or `capacity`"},
             .schema = std::string{schema},
             .read = [&](section& from) { read_cost(from, cost); },
             .print = [&] { return print_cost(cost); }}
        );
    k("reserve",
      "says what becomes of a request whose cost is more than a bucket holds: `cap` charges a full "
      "bucket, `refuse` always rejects it")
        .printed_if(cost.from != cost_source::fixed)
        .other(
            {.documented =
                 {"`cap` if `cost` has `json` or `sum`, else `refuse`", "`cap`, `refuse`"},
             .schema = R"({"enum":["cap","refuse"]})",
             .read =
                 [&](section& from) {
                     if (const auto chosen = from.choice("reserve", names_of(reserves))) {
                         cost.caps = reserves[*chosen].second;
                     }
                 },
             .print = [&] { return name_of(cost.caps, reserves); }}
        );
}

void refuse_cost_above(section& from, const limit_draft& l)
{
    const policy::cost_rule& cost = l.rule.cost;
    if (cost.caps) {
        return;
    }
    const std::string_view size = size_key(l.written.algorithm);
    const std::string held =
        (size.empty() ? "count" : std::string{size}) + " of " + std::to_string(l.burst);
    // `which` and `of` name the cost that is too high: `which` in a problem of its own key, `of` in
    // one of a plan.
    const auto refuse =
        [&](const std::string& which, const std::string& of, std::int64_t tokens, const char* who) {
            const std::string never = std::string{": no "} + who + " could ever pass";
            if (l.of_plan) {
                from.problem(
                    from.has(size) ? size : "rate",
                    "a " + held + " is less than the limit's \"cost\"" + of + ", which is " +
                        std::to_string(tokens) + never
                );
            } else {
                from.problem("cost", which + "more than the " + held + never);
            }
        };
    if (cost.standard > l.burst && cost.from == cost_source::fixed) {
        refuse("", "", cost.standard, "request");
    } else if (cost.standard > l.burst) {
        refuse("its default is ", " by default", cost.standard, "request");
    }
    for (const auto& [method, tokens] : cost.methods) {
        if (tokens > l.burst) {
            refuse("that of " + method + " is ", " of " + method, tokens, "such request");
        }
    }
}

}  // namespace gateway::config
