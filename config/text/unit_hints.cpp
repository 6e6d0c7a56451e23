#include "config/text/hints.hpp"
#include "config/text/units.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

namespace gateway::config {
namespace {

using http::is_digit;
using spelling = std::pair<std::string_view, std::string_view>;  // theirs, ours

constexpr std::size_t longest_amount = 40;

// A plural "s" may follow each of them.
constexpr std::array<spelling, 16> time_spellings{
    {{"ms", "ms"},
     {"msec", "ms"},
     {"millisecond", "ms"},
     {"s", "s"},
     {"sec", "s"},
     {"second", "s"},
     {"rps", "s"},
     {"m", "m"},
     {"min", "m"},
     {"minute", "m"},
     {"rpm", "m"},
     {"h", "h"},
     {"hr", "h"},
     {"hour", "h"},
     {"d", "d"},
     {"day", "d"}}};

constexpr std::array<spelling, 14> size_spellings{
    {{"b", ""},
     {"byte", ""},
     {"k", "KiB"},
     {"kb", "KiB"},
     {"ki", "KiB"},
     {"kib", "KiB"},
     {"m", "MiB"},
     {"mb", "MiB"},
     {"mi", "MiB"},
     {"mib", "MiB"},
     {"g", "GiB"},
     {"gb", "GiB"},
     {"gi", "GiB"},
     {"gib", "GiB"}}};

// Words that may stand between a rate's count and its period. A number there is the period's.
constexpr std::array<std::string_view, 14> rate_words{
    "a",
    "an",
    "call",
    "calls",
    "each",
    "every",
    "hits",
    "per",
    "r",
    "req",
    "reqs",
    "request",
    "requests",
    "tokens"};

bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

// Returns the runs of digits and of letters, in order. Returns nothing if anything but spaces and
// slashes is between them, or if a space splits a number, as in "1.5/s" or "1 200/s".
std::vector<std::string> runs_of(std::string_view text)
{
    std::vector<std::string> runs;
    char before = ' ';
    char last = ' ';  // the last character that is no space
    for (const char c : text.size() > longest_amount ? std::string{"?"} : base::lower_case(text)) {
        const bool split_number = is_digit(c) && before == ' ' && is_digit(last);
        if ((c != ' ' && c != '/' && !is_digit(c) && !is_letter(c)) || split_number) {
            return {};
        }
        if (is_digit(c) != is_digit(before) || is_letter(c) != is_letter(before)) {
            runs.emplace_back();
        }
        if (is_digit(c) || is_letter(c)) {
            runs.back() += c;
        }
        before = c;
        last = c == ' ' ? last : c;
    }
    std::erase(runs, "");
    return runs;
}

// Returns our spelling of the last run, or null if that is no unit.
const std::string_view* unit_of(
    const std::vector<std::string>& runs, std::span<const spelling> units
)
{
    const auto found = std::find_if(units.begin(), units.end(), [&](const spelling& s) {
        return !runs.empty() &&
               (runs.back() == s.first || runs.back() == std::string{s.first} + 's');
    });
    return found == units.end() ? nullptr : &found->second;
}

std::string did_you_mean(const std::string& meant, bool valid)
{
    return valid ? ", did you mean \"" + meant + "\"?" : std::string{};
}

std::string amount_hint(std::string_view text, std::span<const spelling> units, auto parse)
{
    const auto runs = runs_of(text);
    const std::string_view* unit = unit_of(runs, units);
    if (unit == nullptr || runs.size() != 2) {
        return {};
    }
    const std::string meant = runs[0] + std::string{*unit};
    return did_you_mean(meant, parse(meant).has_value());
}

}  // namespace

std::string rate_hint(std::string_view text)
{
    auto runs = runs_of(text);
    const std::string_view* unit = unit_of(runs, time_spellings);
    if (unit == nullptr || *unit == "ms" || runs.size() < 2) {
        return {};
    }
    if (runs.size() > 2 && runs[1] == "k") {
        runs.front() += "000";
        runs.erase(runs.begin() + 1);
    }
    // The number before the unit is the period's, as in "10 per 5 min", unless it is the count.
    const std::string& before = runs[runs.size() - 2];
    const bool has_period = runs.size() > 2 && is_digit(before.front());
    const auto end_of_words = runs.end() - (has_period ? 2 : 1);
    const bool is_plain = std::all_of(runs.begin() + 1, end_of_words, [](const std::string& run) {
        return std::find(rate_words.begin(), rate_words.end(), run) != rate_words.end();
    });
    if (!is_plain) {
        return {};
    }
    const std::string meant = runs.front() + '/' + (has_period ? before : "") + std::string{*unit};
    return did_you_mean(meant, parse_rate(meant).has_value());
}

std::string duration_hint(std::string_view text)
{
    return amount_hint(text, time_spellings, parse_duration);
}

std::string size_hint(std::string_view text)
{
    return amount_hint(text, size_spellings, parse_size);
}

}  // namespace gateway::config
