// `describe_health` describes upstreams.NAME.health: how an upstream's servers are checked.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration shortest_interval = 10ms;
constexpr base::duration longest_time = 1h;
constexpr std::uint64_t most_in_a_row = 100;
constexpr std::size_t longest_health_path = 1024;
constexpr std::uint64_t first_status = 200;  // 1xx is no answer
constexpr std::uint64_t last_status = 599;

void load_path(section& health, std::string& path)
{
    const std::string* text = health.text("path");
    if (text == nullptr) {
        return;
    }
    if (text->starts_with('/') && is_visible(*text, longest_health_path) &&
        text->find('#') == std::string::npos) {
        path = *text;
    } else {
        health.problem("path", "expected a path such as /healthz, percent-encoded where needed");
    }
}

// Returns the path without its query, which may contain a token of the server.
std::string shown_path(const std::string& path)
{
    const std::size_t query = path.find('?');
    return query == std::string::npos ? path : path.substr(0, query) + "?***";
}

// Reads a status or a range, such as "200" or "200-399".
void load_expected(section& health, proxy::health_options& options)
{
    const std::string* text = health.text("expected");
    if (text == nullptr) {
        return;
    }
    const std::string_view both = *text;
    const std::size_t dash = both.find('-');
    const auto first = parse_number(both.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(both.substr(dash + 1));
    if (!first || !last || *first < first_status || *last > last_status || *first > *last) {
        health.problem(
            "expected",
            "expected a status or a range of them within 200-599, such as 200-399, got " +
                quote(*text)
        );
        return;
    }
    options.expected_first = static_cast<int>(*first);
    options.expected_last = static_cast<int>(*last);
}

void describe_checks(keys& health, proxy::health_options& options)
{
    health.other(
        {"path", "of a `GET`, with `Host` of the server and `User-Agent: gateway/VERSION`"},
        {.says = {"none", "at most 1024 characters"},
         .schema = R"({"type":"string","pattern":"^/[!-~]*$","maxLength":1024})",
         .read = [&](section& from) { load_path(from, options.path); },
         .print = [&] { return yaml(shown_path(options.path)); }}
    );
    health.time(
        {"interval",
         "from one check's end to the next, give or take a tenth; the first comes within one "
         "interval"},
        options.interval,
        shortest_interval,
        longest_time
    );
    health.time(
        {"timeout", "of a whole check, from connecting to the last byte of the response"},
        options.timeout,
        shortest_timeout,
        longest_time
    );
    health.number(
        {"unhealthy", "failed checks in a row that take a server out"},
        options.unhealthy,
        1,
        most_in_a_row
    );
    health.number(
        {"healthy", "good checks in a row that bring it back"}, options.healthy, 1, most_in_a_row
    );
    health.other(
        {"expected", "statuses that are good: one, or a range"},
        {.says = {"`200-399`", "200 to 599"},
         .schema = R"({"type":["string","integer"],"pattern":"^[2-5][0-9]{2}(-[2-5][0-9]{2})?$"})",
         .read = [&](section& from) { load_expected(from, options); },
         .print =
             [&] {
                 return std::to_string(options.expected_first) + '-' +
                        std::to_string(options.expected_last);
             }}
    );
}

}  // namespace

void describe_health(keys& upstream, std::optional<proxy::health_options>& out)
{
    upstream.mapping(
        {"health",
         "how its servers are checked (below); without the key nobody asks, and each is taken to "
         "be well"},
        [&out](keys& health) { describe_checks(health, out ? *out : out.emplace()); },
        out.has_value()
    );
}

}  // namespace gateway::config
