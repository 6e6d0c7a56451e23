// Keys of a limit that say what it gives, and when.
#include "config/limits/limit_sections.hpp"
#include "config/text/hints.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {
namespace {

constexpr std::uint64_t most_in_a_log = 10'000;
constexpr range bucket_sizes{1, most_tokens};
constexpr std::string_view rate_schema = R"({"if":{"type":"object","required":["claim"]},
    "then":{"additionalProperties":false,"required":["claim","per","default","max"],"properties":{
        "claim":{"type":"string","description":"the claim of a token that states how many"},
        "per":{"description":"the time in which so many come back","type":["string"],"pattern":"^(0|[1-9][0-9]*)(ms|s|m|h|d)$"},
        "default":{"description":"how many without a valid claim","type":"integer","minimum":1,"maximum":1000000000000},
        "max":{"description":"the most that a claim may state","type":"integer","minimum":1,"maximum":1000000000000}}},
    "else":{"type":"string","pattern":"^[1-9][0-9]*/([1-9][0-9]*(ms|s|m|h|d)|[smhdw]|mo)$"}})";
constexpr std::string_view burst_schema = R"({"if":{"type":"object","required":["claim"]},
    "then":{"additionalProperties":false,"required":["claim","default","max"],"properties":{
        "claim":{"type":"string","description":"the claim of a token that states how many"},
        "default":{"description":"how many without a valid claim","type":"integer","minimum":1,"maximum":1000000000000},
        "max":{"description":"the most that a claim may state","type":"integer","minimum":1,"maximum":1000000000000}}},
    "else":{"type":"integer","minimum":1,"maximum":1000000000000}})";
constexpr stated as_in_rate{"the count in `rate`", "1 to 1000000000000"};

// Returns what is wrong with a rate, or nothing if it is valid.
std::optional<std::string> complaint_about(const rate& written, algorithm how)
{
    using std::chrono::microseconds;
    if (static_cast<std::uint64_t>(written.tokens) > most_tokens) {
        return "too many tokens, the maximum is " + std::to_string(most_tokens);
    }
    if (how == algorithm::fixed_window) {
        return written.tokens > written.period / microseconds{1}
                   ? std::optional<
                         std::string>{"too fast, the maximum is one token per microsecond"}
                   : std::nullopt;
    }
    if (how == algorithm::sliding_log &&
        static_cast<std::uint64_t>(written.tokens) > most_in_a_log) {
        return "too many for a sliding_log, the maximum is " + std::to_string(most_in_a_log) +
               ": a sliding_window counts more";
    }
    if (written.monthly) {
        return "months differ in length: write 30d, or \"algorithm: fixed_window\"";
    }
    return written.tokens > written.period.count()
               ? std::optional<std::string>{"too fast, the maximum is one token per nanosecond"}
               : std::nullopt;
}

std::string take_rate(const std::string& text, limit_draft& l)
{
    const auto written = parse_rate(text);
    if (!written) {
        return "expected a rate such as 100/m or 10/10s, got " + quote(text) + rate_hint(text);
    }
    if (const auto complaint = complaint_about(*written, l.written.algorithm)) {
        return *complaint;
    }
    l.written.rate = *written;
    l.burst = written->tokens;
    l.has_rate = true;
    return {};
}

bool is_mapping(section& from, std::string_view key)
{
    const node* const value = from.find(key);
    return value != nullptr && value->is == node::kind::mapping;
}

void describe_its_rate(const described_key& k, limit_draft& l)
{
    const auto read = [&](section& from) {
        if (is_mapping(from, "rate")) {
            read_claimed_rate(from, l);
        } else {
            from.take_text("rate", [&](const std::string& text) { return take_rate(text, l); });
        }
    };
    const auto print = [&] {
        const policy::claimed_numbers& c = l.rule.claimed;
        return c.tokens.any() ? print_claimed_rate(c) : format_rate(l.written.rate);
    };
    k.printed_if(!counts_requests(l))
        .other(
            {.documented =
                 {"none",
                  "at most one token per ns, or per µs in a shared store or a `fixed_window`"},
             .schema = std::string{rate_schema},
             .read = read,
             .print = print}
        );
}

void make_limit(section& from, limit_draft& l, draft& d)
{
    refuse_foreign_keys(from, l);
    const node* const given = from.require(counts_requests(l) ? "max" : "rate");
    if (given == nullptr || (!l.has_rate && !counts_requests(l))) {
        return;
    }
    refuse_cost_above(from, l);
    l.rule.limit = numbers_of(from, l, d).value_or(l.rule.limit);
    l.rule.algorithm = name_of(l.written.algorithm, algorithms);
    l.rule.rate = counts_requests(l) ? std::string{} : format_rate(l.written.rate);
}

text_form not_empty(std::string& value, stated documented)
{
    const auto take = [&value](const std::string& text) {
        value = text;
        return text.empty() ? "must not be empty" : "";
    };
    return {.documented = documented, .take = take, .print = [&value] {
                return yaml_or_nothing(value);
            }};
}

// Describes how much a bucket holds.
void describe_burst(keys& k, limit_draft& l)
{
    const auto read = [&](section& from) {
        if (is_mapping(from, "burst")) {
            read_claimed_burst(from, l);
        } else {
            from.take_number("burst", l.burst, bucket_sizes);
        }
    };
    const auto print = [&] {
        const policy::claimed_numbers& c = l.rule.claimed;
        return c.any() ? print_claimed_burst(c) : std::to_string(l.burst);
    };
    k("burst",
      "the tokens in a full bucket of a `token_bucket`, or a claim as for `rate`. Refilling it may "
      "take at most 100 years")
        .printed_if(l.written.algorithm == algorithm::token_bucket)
        .other(
            {.documented = as_in_rate,
             .schema = std::string{burst_schema},
             .read = read,
             .print = print}
        );
    k("capacity",
      "the tokens in a full bucket of a `fixed_window`. If it is above the count in `rate`, "
      "what one window leaves can be used in the next. Refilling it may take at most 100 years, "
      "and 60 windows with a wall-clock `start`")
        .printed_if(in_windows(l))
        .number(l.burst, as_in_rate, bucket_sizes);
}

// Describes the windows of a limit.
void describe_windows(keys& k, limit_draft& l)
{
    k("start",
      "says when windows begin: with `aligned` at multiples of their length since 1970, or at a "
      "wall-clock time. Without this key those of each bucket begin at an offset of its own")
        .printed_if(in_windows(l))
        .text(not_empty(
            l.written.start,
            {"none",
             "`aligned`; per `d` `\"08:00\"`, per `w` `\"mon 08:00\"`, per `mo` `\"1 08:00\"`"}
        ));
    k("time_zone", "the time zone of a wall-clock `start`. A day with a clock change is one window")
        .printed_if(in_windows(l) && l.written.time_zone != "UTC")
        .text(not_empty(l.written.time_zone, {"`UTC`", "a name in the tz database"}));
    k("resolution",
      "the number of parts of a `sliding_window`; a token comes back at most one part later "
      "than it could")
        .printed_if(l.written.algorithm == algorithm::sliding_window)
        .number(l.written.resolution, {"`16`", "2 to 64"}, {2, 64});
}

}  // namespace

void load_plan_numbers(section& from, limit_draft& l, draft& d)
{
    l.has_rate = false;
    if (!counts_requests(l)) {
        from.take_text("rate", [&](const std::string& text) { return take_rate(text, l); });
    }
    if (const std::string_view size = size_key(l.written.algorithm); !size.empty()) {
        from.take_number(size, l.burst, bucket_sizes);
    }
    make_limit(from, l, d);
}

void describe_rate(keys& k, limit_draft& l, draft& d)
{
    k("algorithm",
      "says when tokens come back: with `token_bucket` one by one; with `fixed_window` all at "
      "once when a window begins; with `sliding_window` and `sliding_log` each when it was "
      "taken a window ago; with `concurrency` when the request ends (below)")
        .word(l.written.algorithm, algorithms);
    describe_its_rate(
        k("rate",
          "the tokens that come back per `s`, `m`, `h`, `d`, `w` or any duration, as in `100/m` "
          "and `10/10s`; for a `fixed_window` also per `mo`, a month. Or the claim of the token "
          "that "
          "states them, `{ claim: rpm, per: 1m, default: 100, max: 10000 }` (below)"),
        l
    );
    describe_burst(k, l);
    describe_windows(k, l);
    k("max", "bounds the requests of a bucket in flight, for `concurrency`")
        .printed_if(counts_requests(l))
        .number(l.burst, {"none", "1 to 1000000000000"}, bucket_sizes);
    describe_lease(k, l);
    describe_cost(k, l.rule.cost);
    describe_outcome(k, l.rule.outcome);
    k.rule([&](section& from) { make_limit(from, l, d); });
    k.constraint(R"({"if":{"required":["algorithm"],"properties":{"algorithm":
        {"const":"concurrency"}}},"then":{"required":["max"]},"else":{"required":["rate"]}})");
}

}  // namespace gateway::config
