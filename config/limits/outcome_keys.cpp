// Keys `charge_on`, `reset_on` and `penalty` of a limit: what follows from responses, and
// from rejections.
#include "config/limits/limit_sections.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>
#include <limits>

namespace gateway::config {
namespace {

constexpr std::size_t most_statuses = 32;
constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

constexpr std::string_view status_schema = R"({"type":"array","maxItems":32,"minItems":1,
    "items":{"if":{"type":"string"},"then":{"pattern":"^[2-5]([0-9][0-9]|xx)$"},
             "else":{"type":"integer","minimum":200,"maximum":599}}})";

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

// Takes one of the statuses. There may be more than the most in the file.
void read_statuses(section& from, policy::response_set& into)
{
    from.each_item("status", any_number, "expected at least one status", [&](const located& one) {
        const std::string expected = "a status such as 401, or 5xx";
        const std::string* const text = scalar_text(one, expected, from.found());
        const auto range = text != nullptr ? parse_statuses(*text) : std::nullopt;
        if (range && into.ranges.size() < most_statuses) {
            into.ranges.push_back(*range);
        } else if (text != nullptr) {
            from.found().problem(
                one,
                range ? "too many, the maximum is 32"
                      : "expected " + expected + ", got " + quote(*text)
            );
        }
    });
}

std::string print_statuses(const policy::response_set& responses)
{
    if (responses.ranges.empty()) {
        return {};
    }
    return yaml_list(responses.ranges, [](const auto& range) {
        const bool hundred = range.second - range.first == 99;
        return hundred ? std::to_string(range.first / 100) + "xx" : std::to_string(range.first);
    });
}

// ---- codes of gRPC ---------------------------------------------------------------------------

std::string code_schema()
{
    std::string names;
    for (const std::string_view name : http::grpc_status_names) {
        names.append(names.empty() ? "\"" : ",\"").append(name).append("\"");
    }
    return R"({"type":"array","minItems":1,"items":{"if":{"type":"string"},"then":{"enum":[)" +
           names + R"(]},"else":{"type":"integer","minimum":0,"maximum":16}}})";
}

// Parses "UNAUTHENTICATED" or "16". Returns nothing for anything else.
std::optional<http::grpc_status> parse_code(std::string_view text)
{
    const auto& names = http::grpc_status_names;
    const auto named = std::find(names.begin(), names.end(), text);
    const auto number = named == names.end()
                            ? parse_number(text)
                            : std::optional{static_cast<std::uint64_t>(named - names.begin())};
    return number && *number < names.size() ? std::optional{static_cast<http::grpc_status>(*number)}
                                            : std::nullopt;
}

void read_codes(section& from, policy::response_set& into)
{
    from.each_item("grpc", any_number, "expected at least one code", [&](const located& one) {
        const std::string expected = "a code of gRPC such as UNAUTHENTICATED, or 16";
        const std::string* const text = scalar_text(one, expected, from.found());
        const auto code = text != nullptr ? parse_code(*text) : std::nullopt;
        if (code) {
            into.add(*code);
        } else if (text != nullptr) {
            from.found().problem(
                one,
                "expected " + expected + ", got " + quote(*text) +
                    from.found().suggestion(*text, http::grpc_status_names)
            );
        }
    });
}

std::string print_codes(const policy::response_set& responses)
{
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < http::grpc_status_names.size(); ++i) {
        if (responses.contains(static_cast<http::grpc_status>(i))) {
            names.push_back(http::grpc_status_names[i]);
        }
    }
    return names.empty() ? std::string{} : yaml_list(names);
}

void describe_both(keys& k, policy::response_set& responses)
{
    k("status", "statuses, such as `401`, and classes of them, such as `5xx`")
        .other(
            {.schema = std::string{status_schema},
             .read = [&](section& from) { read_statuses(from, responses); },
             .print = [&] { return print_statuses(responses); }}
        );
    k("grpc", "outcomes of calls of gRPC, such as `UNAUTHENTICATED` or `16`")
        .other(
            {.schema = code_schema(),
             .read = [&](section& from) { read_codes(from, responses); },
             .print = [&] { return print_codes(responses); }}
        );
    k.rule([](section& from) {
        if (!from.has("status") && !from.has("grpc")) {
            from.problem("status", "missing, and so is \"grpc\"");
        }
    });
    k.constraint(R"({"anyOf":[{"required":["status"]},{"required":["grpc"]}]})");
}

void describe_responses(const described_key& k, policy::response_set& responses)
{
    k.line(
        {.documented =
             {"none",
              "`{ status: [401, 5xx] }` with at most 32, `{ grpc: [UNAUTHENTICATED] }`, or both"},
         .is_set = !responses.empty(),
         .describe = [&](keys& inner) { describe_both(inner, responses); }}
    );
}

constexpr base::duration shortest_ban = std::chrono::seconds{1};

void describe_bans(keys& k, limit::penalty& penalty)
{
    const times length{shortest_ban, limit::penalty::longest};
    k("after", "rejections until the ban", required)
        .number(penalty.after, {1, limit::penalty::most_rejections});
    k("within", "time within which these rejections come", required).time(penalty.within, length);
    k("ban", "length of the first ban", required).time(penalty.ban, length);
    k("max_ban", "length of the longest ban", required).time(penalty.max_ban, length);
    k.rule([&](section& from) {
        if (from.has("ban") && from.has("max_ban") &&
            std::max(penalty.max_ban, shortest_ban) < penalty.ban) {
            from.problem("max_ban", "shorter than \"ban\"");
        }
        // With a problem, too, there is a penalty that other keys are checked against.
        penalty.after = std::max<std::int64_t>(penalty.after, 1);
    });
}

}  // namespace

void describe_outcome(keys& k, policy::outcome_rule& outcome)
{
    describe_responses(
        k("charge_on",
          "the responses that keep the charge, by their status or by the outcome of a call of gRPC "
          "(below); with any other the tokens are refunded. Until the response they are taken, so "
          "of good requests at once no more pass than there are tokens"),
        outcome.charge_on
    );
    describe_responses(
        k("reset_on", "the responses that make the bucket full again"), outcome.reset_on
    );
    describe_settle(k, outcome);
}

void describe_penalty(keys& k, limit::penalty& penalty)
{
    k("penalty",
      "bans a bucket: after so many rejections within that time, all its requests are rejected "
      "for the time of `ban`. Each next ban within `max_ban` is twice as long, up to `max_ban` "
      "(below)")
        .line(
            {.documented = {"none", "`{ after: 5, within: 1m, ban: 10m, max_ban: 1d }`"},
             .is_set = penalty.any(),
             .describe = [&](keys& inner) { describe_bans(inner, penalty); }}
        );
}

}  // namespace gateway::config
