// Key `settle` of a limit: what a response says that its request has cost.
#include "config/limits/limit_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_settle_header = 128;
constexpr std::size_t most_usages = 16;
constexpr std::size_t most_alternatives = 4;
constexpr std::uint64_t most_weight = 1'000'000;
constexpr std::string_view between_alternatives = " | ";

constexpr words<bool, 2> missing_settlements{{{"keep", false}, {"refund", true}}};

std::string take_settle_header(const std::string& name, std::string& header)
{
    if (!is_token(name, longest_settle_header)) {
        return "not a name";
    }
    header = base::lower_case(name);
    return http::classify(name) == http::field_name::other ? "" : "a header that HTTP needs";
}

// Takes paths with " | " between them.
std::string take_places(std::string_view text, std::vector<policy::stated_usage::place>& places)
{
    while (true) {
        const std::size_t end = std::min(text.find(between_alternatives), text.size());
        std::string complaint =
            take_json_path(std::string{text.substr(0, end)}, places.emplace_back().path);
        if (!complaint.empty() || end == text.size()) {
            return complaint;
        }
        if (places.size() == most_alternatives) {
            return "too many alternatives, the maximum is 4";
        }
        text.remove_prefix(end + between_alternatives.size());
    }
}

void read_usage(section& from, policy::outcome_rule& outcome)
{
    if (from.find("json")->is != node::kind::mapping) {
        from.take_text("json", [&](const std::string& text) {
            return take_places(text, outcome.usage.emplace_back().places);
        });
        return;
    }
    section numbers = from.inside("json");
    for (const entry& e : from.find("json")->entries) {
        const std::string& name = e.key.text;
        policy::stated_usage usage;
        const auto weight = numbers.number(name, 1, most_weight);
        if (const std::string complaint = take_places(name, usage.places); !complaint.empty()) {
            numbers.problem(name, complaint);
        } else if (outcome.usage.size() == most_usages) {
            numbers.problem(name, "too many, the maximum is 16");
        } else if (weight && numbers.is_first(e)) {
            usage.weight = static_cast<std::int64_t>(*weight);
            outcome.usage.push_back(std::move(usage));
        }
    }
    if (from.find("json")->entries.empty()) {
        from.problem("json", "expected at least one path");
    }
}

std::string print_usage(const policy::outcome_rule& outcome)
{
    return yaml_mapping(outcome.usage, [](const policy::stated_usage& u) {
        std::string paths;
        for (const policy::stated_usage::place& place : u.places) {
            paths += (paths.empty() ? "" : between_alternatives);
            paths += place.path;
        }
        return std::pair{paths, std::to_string(u.weight)};
    });
}

void describe_usage(keys& k, policy::outcome_rule& outcome)
{
    k("json",
      "numbers in the JSON content of the response, or in the events of its stream, with the "
      "tokens that one of each costs; or one path. The last number at a path counts. Several "
      "paths of one number have ` | ` between them")
        .other(
            {.documented = {"none", "`{ usage.total_tokens: 1 }`, at most 16"},
             .schema = R"({"if":{"type":"object"},"then":{"minProperties":1,"maxProperties":16,
                 "additionalProperties":{"type":"integer","minimum":1,"maximum":1000000}},
                 "else":{"type":"string"}})",
             .read = [&](section& from) { read_usage(from, outcome); },
             .print = [&] { return print_usage(outcome); }}
        );
    k("response_bytes", "bytes of the response's content that cost one token")
        .printed_if(outcome.bytes_per_token > 0)
        .number(outcome.bytes_per_token, {"none", "1 to 1000000000000"}, {1, most_tokens});
    k("missing",
      "says what becomes of the charge if the response has none of the numbers of `json`, or is "
      "compressed: `keep` leaves it, `refund` gives the tokens back")
        .printed_if(!outcome.usage.empty())
        .word(outcome.refunds_missing, missing_settlements);
}

void describe_sources(keys& k, policy::outcome_rule& outcome)
{
    std::string& header = outcome.settle_header;
    k("header", "name of the response header").text(header, {"none"}, take_settle_header);
    describe_usage(k, outcome);
    k("max", "the largest cost that counts; `header` needs it")
        .number(outcome.settle_max, {"`1000000000000`", "1 to 1000000000000"}, {1, most_tokens});
    k("keep", "true if the client gets the header, too")
        .printed_if(!header.empty())
        .flag(outcome.keep_settle_header);
    k.rule([&](section& from) {
        const int sources = (from.has("header") ? 1 : 0) + (from.has("json") ? 1 : 0) +
                            (from.has("response_bytes") ? 1 : 0);
        if (sources != 1) {
            from.problem("header", "expected one of header, json and response_bytes");
        }
        if (from.has("header") && !from.has("max")) {
            from.problem("max", "missing: the largest cost that counts");
        }
        if (!from.has("max")) {
            outcome.settle_max = policy::most_cost;
        }
        if (from.has("missing") && !from.has("json")) {
            from.problem("missing", "has no effect without \"json\"");
        }
        if (from.has("keep") && !from.has("header")) {
            from.problem("keep", "has no effect without \"header\"");
        }
    });
}

}  // namespace

void describe_settle(keys& k, policy::outcome_rule& outcome)
{
    k("settle",
      "where the response says what the request really cost: a header, which the client gets "
      "with `keep: true` only, numbers in its JSON content or event stream, or its bytes (below)")
        .line(
            {.documented = {"none", "`{ header: NAME, max: N }`, `{ json: PATH }`"},
             .is_set = !outcome.settle_header.empty() || outcome.reads_end(),
             .describe = [&](keys& inner) { describe_sources(inner, outcome); }}
        );
}

}  // namespace gateway::config
