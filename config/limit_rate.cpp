#include "config/limit_rate.hpp"

#include "config/cost_keys.hpp"
#include "config/outcome_keys.hpp"
#include "config/ranges.hpp"
#include "config/reading.hpp"
#include "config/unit_hints.hpp"
#include "config/window_start.hpp"
#include "config/yaml_text.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

// Of windows that begin by a calendar, as a shared store is told when each of them begins.
constexpr std::int64_t most_windows_held = 60;

constexpr words<algorithm, 2> algorithms{{
    {"token_bucket", algorithm::token_bucket},
    {"fixed_window", algorithm::fixed_window},
}};

bool in_windows(const limit_draft& l)
{
    return l.written.algorithm == algorithm::fixed_window;
}

// What is wrong with a rate; nothing: all is well.
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
            "expected a rate such as 100/m or 10/10s, got " + quoted(*text) + rate_hint(*text)
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

// Keys that the limit's algorithm does not have.
void refuse_foreign_keys(section& from, const limit_draft& l)
{
    if (in_windows(l) && from.has("burst")) {
        from.problem("burst", "not a key of a fixed_window, whose buckets hold \"capacity\"");
    }
    for (const char* key : {"capacity", "start", "time_zone"}) {
        if (!in_windows(l) && from.has(key)) {
            from.problem(key, "only for \"algorithm: fixed_window\"");
        }
    }
}

// Nothing: windows of that length do not begin by a wall clock.
std::optional<window_unit> unit_of(const rate& r)
{
    return r.monthly             ? std::optional{window_unit::month}
           : r.period == 7 * 24h ? std::optional{window_unit::week}
           : r.period == 24h     ? std::optional{window_unit::day}
                                 : std::nullopt;
}

// When windows begin, if that is by a wall clock.
std::optional<wall_clock> wall_clock_of(section& from, const limit_draft& l)
{
    const std::string& start = l.written.start;
    const auto unit = unit_of(l.written.rate);
    const bool by_length = start.empty() || start == "aligned";
    if (start.empty() && l.written.rate.monthly) {
        from.problem("start", "missing: a month begins at a wall-clock time, such as \"1 00:00\"");
        return std::nullopt;
    }
    if (by_length && !l.written.rate.monthly) {
        if (from.has("time_zone")) {
            from.problem("time_zone", "has no effect without a \"start\" at a wall-clock time");
        }
        return std::nullopt;
    }
    const auto parsed = unit ? parse_wall_clock(by_length ? "00:00" : start, *unit) : std::nullopt;
    if (!parsed) {
        from.problem(
            "start",
            "expected \"aligned\", or of a rate per d \"08:00\", per w \"mon 08:00\", per mo "
            "\"1 08:00\" (day 1 to 28), got " +
                quoted(start)
        );
    }
    return parsed;
}

// Null and a problem: there is no such zone.
std::shared_ptr<const limit::calendar> shared_calendar(
    section& from, const limit_draft& l, const wall_clock& start, draft& d
)
{
    const written_limit& w = l.written;
    auto& known =
        d.calendars[format_rate({1, w.rate.period, w.rate.monthly}) + w.start + w.time_zone];
    if (known == nullptr) {
        known = calendar_of(start, w.time_zone);
    }
    if (known == nullptr) {
        from.problem(
            "time_zone",
            "not in the tz database (of the package tzdata): " + quoted(w.time_zone) +
                ", a name is for example Europe/Berlin"
        );
    }
    return known;
}

// Nothing and a problem: the windows are impossible.
std::optional<limit::limit> made_of_windows(section& from, const limit_draft& l, draft& d)
{
    const rate& r = l.written.rate;
    limit::window_options options{
        .count = r.tokens,
        .length = r.period,
        .aligned = !l.written.start.empty(),
        .dates = nullptr,
        .capacity = l.burst};
    if (const auto start = wall_clock_of(from, l)) {
        options.dates = shared_calendar(from, l, *start, d);
        if (options.dates == nullptr) {
            return std::nullopt;
        }
        if (l.burst > most_windows_held * r.tokens) {
            from.problem(
                "capacity",
                "more than " + std::to_string(most_windows_held) + " times the count in \"rate\""
            );
            return std::nullopt;
        }
    }
    auto made = limit::limit::in_windows(options);
    if (!made) {
        from.problem(
            from.has("capacity") ? "capacity" : "rate",
            "a refill of " + std::to_string(l.burst) +
                " tokens would take too long, the maximum is 100 years"
        );
    }
    return made;
}

// Nothing and a problem: a refill takes too long.
std::optional<limit::limit> made_of_a_rate(section& from, const limit_draft& l)
{
    auto made = limit::limit::make(l.written.rate.tokens, l.written.rate.period, l.burst);
    if (!made) {
        from.problem(
            from.has("burst") ? "burst" : "rate",
            "a refill of " + std::to_string(l.burst) +
                " tokens would take too long, the maximum is 100 years"
        );
    }
    return made;
}

void make_limit(section& from, limit_draft& l, draft& d)
{
    refuse_foreign_keys(from, l);
    if (!l.has_rate) {
        return;
    }
    if (l.rule.cost.standard > l.burst) {
        from.problem(
            "cost",
            std::string{
                l.rule.cost.from == policy::cost_rule::source::fixed ? "" : "its default is "} +
                "more than the " + (in_windows(l) ? "capacity" : "burst") + " of " +
                std::to_string(l.burst) + ": no request could ever pass"
        );
    }
    const auto made = in_windows(l) ? made_of_windows(from, l, d) : made_of_a_rate(from, l);
    l.rule.limit = made.value_or(l.rule.limit);
}

// A number of tokens whose default or range another key gives; printed if it is the algorithm's.
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

// A text of a fixed_window, left out where it is empty or `printed` is false.
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

}  // namespace

void describe_rate(keys& limit, limit_draft& l, draft& d)
{
    limit.word(
        {"algorithm",
         "`token_bucket`: tokens come back one by one; `fixed_window`: all at once when a window "
         "begins (below)"},
        l.written.algorithm,
        algorithms
    );
    limit.other(
        {"rate",
         "tokens per `s`, `m`, `h`, `d`, `w` or per any duration: `100/m`, `10/10s`; of a "
         "`fixed_window` also per `mo`, a month"},
        {.says =
             {"none", "at most one token per ns, or per µs in a shared store or a `fixed_window`"},
         .schema = R"({"type":"string","pattern":"^[1-9][0-9]*/"})",
         .read = [&](section& from) { load_rate(from, l); },
         .print = [&] { return format_rate(l.written.rate); }}
    );
    const bool windows = in_windows(l);
    describe_tokens(
        limit,
        {"burst",
         "tokens in a full bucket of a `token_bucket`. Refilling it may take at most 100 years"},
        {"the count in `rate`", "1 to 1000000000000"},
        l.burst,
        !windows
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
    describe_cost(limit, l.rule.cost);
    describe_outcome(limit, l.rule.outcome);
    limit.rule([&](section& from) { make_limit(from, l, d); });
}

}  // namespace gateway::config
