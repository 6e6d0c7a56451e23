// Keys `charge_on`, `reset_on`, `settle` and `penalty` of a limit: what follows from responses, and
// from rejections.
#include "config/limits/limit_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

#include <algorithm>
#include <limits>

namespace gateway::config {
namespace {

constexpr std::size_t longest_settle_header = 128;
constexpr std::size_t most_statuses = 32;

constexpr base::duration shortest_ban = std::chrono::seconds{1};

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
void read_statuses(section& from, policy::status_set& into)
{
    const auto any = std::numeric_limits<std::size_t>::max();
    from.each_item("status", any, "expected at least one status", [&](const located& one) {
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

std::string print_statuses(const policy::status_set& statuses)
{
    return yaml_list(statuses.ranges, [](const auto& range) {
        const bool hundred = range.second - range.first == 99;
        return hundred ? std::to_string(range.first / 100) + "xx" : std::to_string(range.first);
    });
}

void describe_statuses(const described_key& k, policy::status_set& statuses)
{
    const auto describe = [&](keys& inner) {
        inner("status", "statuses, such as `401`, and classes of them, such as `5xx`", required)
            .other(
                {.schema = std::string{status_schema},
                 .read = [&](section& from) { read_statuses(from, statuses); },
                 .print = [&] { return print_statuses(statuses); }}
            );
    };
    k.line(
        {.documented = {"none", "`{ status: [401, 5xx] }`, at most 32"},
         .is_set = !statuses.ranges.empty(),
         .describe = describe}
    );
}

std::string take_settle_header(const std::string& name, std::string& header)
{
    if (!is_token(name, longest_settle_header)) {
        return "not a name";
    }
    header = base::lower_case(name);
    return http::classify(name) == http::field_name::other ? "" : "a header that HTTP needs";
}

void describe_settle(keys& k, policy::outcome_rule& outcome)
{
    std::string& header = outcome.settle_header;
    k("header", "name of the response header", required)
        .text(
            {.take = [&](const std::string& name) { return take_settle_header(name, header); },
             .print = [&] { return yaml(header); }}
        );
    k("max", "the largest cost that counts", required).number(outcome.settle_max, {1, most_tokens});
    k("keep", "true if the client gets the header, too").flag(outcome.keep_settle_header);
}

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
    describe_statuses(
        k("charge_on",
          "the statuses of responses that keep the charge; with any other the tokens are "
          "refunded. Until the response they are taken, so of good requests at once no more pass "
          "than there are tokens"),
        outcome.charge_on
    );
    describe_statuses(
        k("reset_on", "the statuses of responses that make the bucket full again"), outcome.reset_on
    );
    k("settle",
      "the response header that says what the request really cost, and the most that counts; the "
      "client gets it with `keep: true` only")
        .line(
            {.documented = {"none", "`{ header: NAME, max: N }`"},
             .is_set = !outcome.settle_header.empty(),
             .describe = [&](keys& inner) { describe_settle(inner, outcome); }}
        );
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
