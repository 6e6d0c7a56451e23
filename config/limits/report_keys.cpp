// Keys `headers` and `soft` of a limit: what responses report of it to clients.
#include "config/limits/limit_sections.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>
#include <array>

namespace gateway::config {
namespace {

constexpr std::size_t longest_word = 32;
constexpr std::uint64_t highest_soft = 99;

// Words that other readers of YAML take for true or false.
constexpr std::array<std::string_view, 4> switches{"yes", "no", "on", "off"};

bool is_word(std::string_view text)
{
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto may_follow = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
    };
    return !text.empty() && text.size() <= longest_word && is_letter(text.front()) &&
           text.back() != '-' && std::all_of(text.begin(), text.end(), may_follow) &&
           std::find(switches.begin(), switches.end(), text) == switches.end();
}

// Takes true, false, or the word of names such as x-ratelimit-limit-tokens.
std::string take_fields(const std::string& text, http::limit_fields& fields)
{
    const bool is_flag = text == "true" || text == "false";
    if (!is_flag && !is_word(text)) {
        return "expected true, false, or a word such as tokens (1 to 32 of a-z 0-9 -), which ends "
               "the names x-ratelimit-limit-tokens, -remaining-tokens and -reset-tokens";
    }
    fields.hidden = text == "false";
    fields.word = is_flag ? "" : text;
    return {};
}

std::string text_of(const http::limit_fields& fields)
{
    const std::string_view usual = fields.hidden ? "false" : "true";
    return fields.word.empty() ? std::string{usual} : fields.word;
}

// Takes "80%".
std::string take_soft(std::string_view text, int& soft)
{
    const bool ends_well = !text.empty() && text.back() == '%';
    const auto percent = ends_well ? parse_number(text.substr(0, text.size() - 1)) : std::nullopt;
    if (!percent || *percent < 1 || *percent > highest_soft) {
        return "expected a part of the limit such as 80%, from 1% to 99%";
    }
    soft = static_cast<int>(*percent);
    return {};
}

}  // namespace

void describe_reports(keys& k, policy::limit_rule& rule)
{
    k("headers",
      "says by which fields responses report the limit: `true` by those of `response_headers`, "
      "`false` by none, a word such as `tokens` by `x-ratelimit-limit-tokens`, "
      "`x-ratelimit-remaining-tokens` and `x-ratelimit-reset-tokens`, as OpenAI's API has them. "
      "Retry-After speaks for every limit (docs/http.md)")
        .text(
            {.documented = {"`true`", "`true`, `false`, 1 to 32 of a-z 0-9 -"},
             .schema = R"({"anyOf":[{"type":"boolean"},
                 {"type":"string","pattern":"^[a-z][a-z0-9-]{0,31}$"}]})",
             .take = [&](const std::string& text) { return take_fields(text, rule.fields); },
             .print = [&] { return text_of(rule.fields); }}
        );
    k("soft",
      "the part of the limit above which responses carry `X-RateLimit-Warning` with the limit's "
      "name, and `gateway_soft_limit_exceeded_total` counts. It refuses nothing")
        .text(
            {.documented = {"none", "`1%` to `99%`"},
             .schema = R"({"type":"string","pattern":"^[1-9][0-9]?%$"})",
             .take = [&](const std::string& text) { return take_soft(text, rule.soft); },
             .print = [&] { return rule.soft > 0 ? std::to_string(rule.soft) + '%' : ""; }}
        );
}

}  // namespace gateway::config
