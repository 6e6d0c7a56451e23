#include "config/limits/outcome_keys.hpp"

#include "config/text/ranges.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_settle_header = 128;
constexpr std::size_t most_statuses = 32;

constexpr std::string_view status_schema = R"({"type":"object","additionalProperties":false,
    "required":["status"],"properties":{"status":{"type":"array","maxItems":32,"minItems":1,
    "items":{"if":{"type":"string"},"then":{"pattern":"^[2-5]([0-9][0-9]|xx)$"},
             "else":{"type":"integer","minimum":200,"maximum":599}}}}})";

constexpr std::string_view settle_schema = R"({"type":"object","additionalProperties":false,
    "required":["header","max"],"properties":{"header":{"type":"string"},
    "max":{"type":"integer","minimum":1,"maximum":1000000000000},"keep":{"type":"boolean"}}})";

// Parses "401" or "5xx" into the first and the last status. Returns nothing for anything else.
std::optional<std::pair<int, int>> parse_statuses(std::string_view text)
{
    if (text.size() == 3 && text.substr(1) == "xx" && text[0] >= '2' && text[0] <= '5') {
        const int first = (text[0] - '0') * 100;
        return std::pair{first, first + 99};
    }
    const auto number = parse_number(text);
    if (!number || *number < 200 || *number > 599) {
        return std::nullopt;
    }
    return std::pair{static_cast<int>(*number), static_cast<int>(*number)};
}

void read_statuses(section& limit, std::string_view key, policy::status_set& into)
{
    const node* const value = limit.find(key);
    if (value == nullptr) {
        return;
    }
    section from{{value, limit.path_of(key)}, limit.found()};
    const node* const required = from.require("status");
    const auto list = required == nullptr ? std::nullopt : from.list("status");
    for (std::size_t i = 0; list && i < list->value->items.size(); ++i) {
        const located one = item_of(*list, i);
        constexpr const char* expected = "a status such as 401, or 5xx";
        const std::string* const text = scalar_text(one, expected, from.found());
        const auto range = text != nullptr ? parse_statuses(*text) : std::nullopt;
        if (range && into.ranges.size() < most_statuses) {
            into.ranges.push_back(*range);
        } else if (text != nullptr) {
            from.found().problem(
                one.value->at,
                one.path,
                range ? "too many, the maximum is 32"
                      : "expected " + std::string{expected} + ", got " + quote(*text)
            );
        }
    }
    if (list && list->value->items.empty()) {
        from.problem("status", "expected at least one status");
    }
    from.refuse_the_rest();
}

std::string print_statuses(const policy::status_set& statuses)
{
    const std::string list = yaml_list(statuses.ranges, [](const auto& range) {
        const bool hundred = range.second - range.first == 99;
        return hundred ? std::to_string(range.first / 100) + "xx" : std::to_string(range.first);
    });
    return "{ status: " + list + " }";
}

void read_settle(section& limit, policy::outcome_rule& outcome)
{
    const node* const value = limit.find("settle");
    if (value == nullptr) {
        return;
    }
    section from{{value, limit.path_of("settle")}, limit.found()};
    if (from.require("header") != nullptr) {
        const std::string* const name = from.text("header");
        if (name != nullptr && !is_token(*name, longest_settle_header)) {
            from.problem("header", "not a name");
        } else if (name != nullptr) {
            if (http::classify(*name) != http::field_name::other) {
                from.problem("header", "a header that HTTP needs");
            }
            outcome.settle_header = base::lower_case(*name);
        }
    }
    if (from.require("max") != nullptr) {
        const auto max = from.number("max", 1, most_tokens);
        outcome.settle_max = max ? static_cast<std::int64_t>(*max) : outcome.settle_max;
    }
    outcome.keep_settle_header = from.flag("keep").value_or(false);
    from.refuse_the_rest();
}

std::string print_settle(const policy::outcome_rule& outcome)
{
    return "{ header: " + yaml(outcome.settle_header) +
           ", max: " + std::to_string(outcome.settle_max) +
           ", keep: " + yaml(outcome.keep_settle_header) + " }";
}

void describe_statuses(keys& limit, const key& k, policy::status_set& statuses)
{
    limit.other(
        k,
        {.says = {"none", "`{ status: [401, 5xx] }`, at most 32"},
         .schema = status_schema,
         .read = [&statuses, name = k.name](section& from) { read_statuses(from, name, statuses); },
         .print = [&statuses]() -> std::optional<std::string> {
             return statuses.ranges.empty() ? std::nullopt
                                            : std::optional{print_statuses(statuses)};
         },
         .optional = true}
    );
}

}  // namespace

void describe_outcome(keys& limit, policy::outcome_rule& outcome)
{
    describe_statuses(
        limit,
        {"charge_on",
         "responses that keep the charge; with any other the tokens are given back. Until then "
         "they are "
         "taken, so good requests at once are rejected where there are more of them than tokens"},
        outcome.charge_on
    );
    describe_statuses(
        limit, {"reset_on", "responses that make the bucket full again"}, outcome.reset_on
    );
    limit.other(
        {"settle",
         "the response header that says what the request really cost, and the most that counts; "
         "the client gets it with `keep: true` only"},
        {.says = {"none", "`{ header: NAME, max: N }`"},
         .schema = settle_schema,
         .read = [&](section& from) { read_settle(from, outcome); },
         .print = [&]() -> std::optional<std::string> {
             return outcome.settle_header.empty() ? std::nullopt
                                                  : std::optional{print_settle(outcome)};
         },
         .optional = true}
    );
}

}  // namespace gateway::config
