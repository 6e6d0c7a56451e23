// `describe_health` describes upstreams.NAME.health: how an upstream's servers are checked.
#include "config/sections.hpp"
#include "config/text/secrets.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_in_a_row = 100;
constexpr std::size_t longest_health_path = 1024;
constexpr std::uint64_t first_status = 200;  // 1xx is no answer
constexpr std::uint64_t last_status = 599;

std::string take_health_path(const std::string& text, std::string& path)
{
    if (!text.starts_with('/') || !is_visible(text, longest_health_path) ||
        text.find('#') != std::string::npos) {
        return "expected a path such as /healthz, percent-encoded where needed";
    }
    path = text;
    return {};
}

// Takes a status or a range, such as "200" or "200-399".
std::string take_expected(std::string_view text, proxy::health_options& options)
{
    const std::size_t dash = text.find('-');
    const auto first = parse_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
    if (!first || !last || *first < first_status || *last > last_status || *first > *last) {
        return "expected a status or a range of them within 200-599, such as 200-399, got " +
               quote(text);
    }
    options.expected_first = static_cast<int>(*first);
    options.expected_last = static_cast<int>(*last);
    return {};
}

void describe_checks(keys& k, proxy::health_options& options)
{
    k("path",
      "the path of the `GET` that checks a server, with the server as `Host` and `User-Agent: "
      "gateway/VERSION`",
      required)
        .text(
            {.documented = {"none", "at most 1024 characters"},
             .schema = R"({"type":"string","pattern":"^/[!-~]*$","maxLength":1024})",
             .take = [&](const std::string& text) { return take_health_path(text, options.path); },
             .print = [&] { return yaml(with_query_hidden(options.path)); }}
        );
    k("interval",
      "the time from one check's end to the next, give or take a tenth; the first comes within "
      "one interval")
        .time(options.interval, {10ms, 1h});
    k("timeout", "bounds a whole check, from connecting to the last byte of the response")
        .time(options.timeout, {.max = 1h});
    k("unhealthy", "the number of failed checks in a row that take a server out")
        .number(options.unhealthy, {1, most_in_a_row});
    k("healthy", "the number of good checks in a row that bring a server back")
        .number(options.healthy, {1, most_in_a_row});
    const auto expected = [&] {
        return std::to_string(options.expected_first) + '-' + std::to_string(options.expected_last);
    };
    k("expected", "the statuses of good checks: one, or a range")
        .text(
            {.documented = {"`200-399`", "200 to 599"},
             .schema =
                 R"({"type":["string","integer"],"pattern":"^[2-5][0-9]{2}(-[2-5][0-9]{2})?$"})",
             .take = [&](const std::string& text) { return take_expected(text, options); },
             .print = expected}
        );
}

}  // namespace

void describe_health(keys& k, std::optional<proxy::health_options>& out)
{
    k("health",
      "says how servers are checked (below). Without this key none is, and each is taken to be "
      "well")
        .mapping(out, describe_checks);
}

}  // namespace gateway::config
