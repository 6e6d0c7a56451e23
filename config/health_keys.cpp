// upstreams.NAME.health: how its servers are checked.
#include "config/draft.hpp"
#include "config/ranges.hpp"
#include "config/text_rules.hpp"
#include "config/units.hpp"

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
    const std::string* text = health.require("path") == nullptr ? nullptr : health.text("path");
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

// "200", or "200-399".
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
                quoted(*text)
        );
        return;
    }
    options.expected_first = static_cast<int>(*first);
    options.expected_last = static_cast<int>(*last);
}

}  // namespace

void load_health(section& upstream, std::optional<proxy::health_options>& out, findings& found)
{
    const node* value = upstream.find("health");
    if (value == nullptr) {
        return;
    }
    section health{{value, upstream.path_of("health")}, found};
    proxy::health_options& options = out.emplace();
    load_path(health, options.path);
    health.read("interval", options.interval, shortest_interval, longest_time);
    health.read("timeout", options.timeout, shortest_timeout, longest_time);
    health.read_number("unhealthy", options.unhealthy, 1, most_in_a_row);
    health.read_number("healthy", options.healthy, 1, most_in_a_row);
    load_expected(health, options);
    health.refuse_the_rest();
}

}  // namespace gateway::config
