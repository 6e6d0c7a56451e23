#include "config/limits/limit_rate.hpp"

#include "config/keys/reading.hpp"
#include "config/limits/cost_keys.hpp"
#include "config/limits/lease_keys.hpp"
#include "config/limits/limit_algorithm.hpp"
#include "config/limits/limit_numbers.hpp"
#include "config/limits/outcome_keys.hpp"
#include "config/text/ranges.hpp"
#include "config/text/unit_hints.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_in_a_log = 10'000;
constexpr std::uint64_t least_parts = 2;
constexpr std::uint64_t most_parts = 64;

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

void load_rate(section& from, limit_draft& l)
{
    const std::string* text = from.text("rate");
    if (text == nullptr) {
        return;
    }
    const auto written = parse_rate(*text);
    if (!written) {
        from.problem(
            "rate",
            "expected a rate such as 100/m or 10/10s, got " + quote(*text) + rate_hint(*text)
        );
        return;
    }
    if (const auto complaint = complaint_about(*written, l.written.algorithm)) {
        from.problem("rate", *complaint);
        return;
    }
    l.written.rate = *written;
    l.burst = written->tokens;
    l.has_rate = true;
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
    l.rule.algorithm = names_of(algorithms)[index_of(l.written.algorithm, algorithms)];
    l.rule.rate = counts_requests(l) ? std::string{} : format_rate(l.written.rate);
}

// Describes a number of tokens whose default or range another key gives. It is printed if `printed`
// is true, which says that the algorithm has it.
void describe_tokens(keys& limit, const key& k, stated says, std::int64_t& tokens, bool printed)
{
    limit.other(
        k,
        {.says = says,
         .schema = R"({"type":"integer","minimum":1,"maximum":1000000000000})",
         .read =
             [&](section& from) {
                 const auto read = from.number(k.name, 1, most_tokens);
                 tokens = read ? static_cast<std::int64_t>(*read) : tokens;
             },
         .print = [&tokens, printed]() -> std::optional<std::string> {
             return printed ? std::optional{std::to_string(tokens)} : std::nullopt;
         }}
    );
}

// Describes a text of a fixed_window. It is not printed if it is empty or `printed` is false.
void describe_text(keys& limit, const key& k, stated says, std::string& text, bool printed)
{
    limit.other(
        k,
        {.says = says,
         .read =
             [&text, name = k.name](section& from) {
                 const std::string* const read = from.text(name);
                 if (read != nullptr && read->empty()) {
                     from.problem(name, "must not be empty");
                 }
                 text = read != nullptr ? *read : text;
             },
         .print = [&text, printed]() -> std::optional<std::string> {
             return printed && !text.empty() ? std::optional{yaml(text)} : std::nullopt;
         },
         .optional = true}
    );
}

void describe_sliding(keys& limit, limit_draft& l)
{
    limit.other(
        {"resolution",
         "parts of a `sliding_window`: a token comes back at most one part later than it could"},
        {.says = {"`16`", "2 to 64"},
         .schema = R"({"type":"integer","minimum":2,"maximum":64})",
         .read =
             [&](section& from) {
                 if (const auto read = from.number("resolution", least_parts, most_parts)) {
                     l.written.resolution = static_cast<std::int64_t>(*read);
                 }
             },
         .print = [&]() -> std::optional<std::string> {
             const bool parts = l.written.algorithm == algorithm::sliding_window;
             return parts ? std::optional{std::to_string(l.written.resolution)} : std::nullopt;
         }}
    );
}

void describe_places(keys& limit, limit_draft& l)
{
    limit.other(
        {"max", "requests of a bucket in flight, of `concurrency`"},
        {.says = {"none", "1 to 1000000000000"},
         .schema = R"({"type":"integer","minimum":1,"maximum":1000000000000})",
         .read =
             [&](section& from) {
                 if (const auto read = from.number("max", 1, most_tokens)) {
                     l.burst = static_cast<std::int64_t>(*read);
                 }
             },
         .print = [&]() -> std::optional<std::string> {
             return counts_requests(l) ? std::optional{std::to_string(l.burst)} : std::nullopt;
         },
         .optional = true}
    );
    describe_lease(limit, l);
}

}  // namespace

void load_plan_numbers(section& from, limit_draft& l, draft& d)
{
    l.has_rate = false;
    if (!counts_requests(l)) {
        load_rate(from, l);
    }
    if (const std::string_view size = size_key(l.written.algorithm); !size.empty()) {
        const auto held = from.number(size, 1, most_tokens);
        l.burst = held ? static_cast<std::int64_t>(*held) : l.burst;
    }
    make_limit(from, l, d);
}

void describe_rate(keys& limit, limit_draft& l, draft& d)
{
    limit.word(
        {"algorithm",
         "`token_bucket`: tokens come back one by one; `fixed_window`: all at once when a window "
         "begins; `sliding_window` and `sliding_log`: each when it was taken a window ago; "
         "`concurrency`: places of requests in flight (below)"},
        l.written.algorithm,
        algorithms
    );
    limit.other(
        {"rate",
         "tokens per `s`, `m`, `h`, `d`, `w` or per any duration: `100/m`, `10/10s`; of a "
         "`fixed_window` also per `mo`, a month"},
        {.says =
             {"none", "at most one token per ns, or per µs in a shared store or a `fixed_window`"},
         .schema =
             R"({"type":"string","pattern":"^[1-9][0-9]*/([1-9][0-9]*(ms|s|m|h|d)|[smhdw]|mo)$"})",
         .read = [&](section& from) { load_rate(from, l); },
         .print = [&]() -> std::optional<std::string> {
             return counts_requests(l) ? std::nullopt : std::optional{format_rate(l.written.rate)};
         },
         .optional = true}
    );
    const bool windows = in_windows(l);
    describe_tokens(
        limit,
        {"burst",
         "tokens in a full bucket of a `token_bucket`. Refilling it may take at most 100 years"},
        {"the count in `rate`", "1 to 1000000000000"},
        l.burst,
        l.written.algorithm == algorithm::token_bucket
    );
    describe_tokens(
        limit,
        {"capacity",
         "tokens in a full bucket of a `fixed_window`: above the count, what one window leaves can "
         "be used in the next. Refilling it may take at most 100 years, and 60 windows with a "
         "wall-clock `start`"},
        {"the count in `rate`", "1 to 1000000000000"},
        l.burst,
        windows
    );
    describe_text(
        limit,
        {"start",
         "when windows begin: not written, each bucket's at an offset of its own; `aligned`, at "
         "multiples of their length since 1970; or at a wall-clock time"},
        {"none", "`aligned`; per `d` `\"08:00\"`, per `w` `\"mon 08:00\"`, per `mo` `\"1 08:00\"`"},
        l.written.start,
        windows
    );
    describe_text(
        limit,
        {"time_zone", "of a wall-clock `start`. A day with a clock change is one window"},
        {"`UTC`", "a name in the tz database"},
        l.written.time_zone,
        windows && l.written.time_zone != "UTC"
    );
    describe_sliding(limit, l);
    describe_places(limit, l);
    describe_cost(limit, l.rule.cost);
    describe_outcome(limit, l.rule.outcome);
    limit.rule([&](section& from) { make_limit(from, l, d); });
    limit.constraint(R"({"if":{"required":["algorithm"],"properties":{"algorithm":
        {"const":"concurrency"}}},"then":{"required":["max"]},"else":{"required":["rate"]}})");
}

}  // namespace gateway::config
