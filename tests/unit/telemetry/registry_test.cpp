#include "gateway/telemetry/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

namespace gateway::telemetry {
namespace registry_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array<std::string_view, 2> store_words{"unreachable", "timeout"};
constexpr std::array<std::string_view, 3> upstream_words{"refused", "reset", "timeout"};
constexpr vocabulary words{store_words, upstream_words};

// Series to value, "name{labels}" as printed.
std::map<std::string, double> values(const registry& r)
{
    std::map<std::string, double> all;
    std::istringstream lines(r.scrape());
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line[0] != '#') {
            const std::size_t space = line.rfind(' ');
            all[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
        }
    }
    return all;
}

TEST(registry, gives_the_same_block_to_the_same_worker_and_name)
{
    registry r(2, words, "1.2.3");
    EXPECT_EQ(&r.route(0, "a"), &r.route(0, "a"));
    EXPECT_NE(&r.route(0, "a"), &r.route(1, "a"));
    EXPECT_NE(&r.route(0, "a"), &r.route(0, "b"));
    EXPECT_EQ(&r.limit(1, "a"), &r.limit(1, "a"));
    EXPECT_EQ(&r.store(1, "a"), &r.store(1, "a"));
    EXPECT_EQ(&r.upstream(1, "a"), &r.upstream(1, "a"));
    EXPECT_NE(&r.worker(0), &r.worker(1));
}

TEST(registry, tells_of_servers_what_workers_counted_and_what_its_source_knows)
{
    registry r(2, words, "1");
    r.server(0, {"u", "a:1"}).requests.add(2);
    r.server(1, {"u", "a:1"}).requests.add(3);
    r.server(1, {"u", "a:1"}).active.add(4);
    r.server(0, {"u", "gone:1"}).failures.add(1);
    r.upstream(0, "u").queued.add(5);
    r.upstream(1, "u").retries.add(6);
    r.upstream(1, "u").retries_refused.add(7);
    r.set_sources({.servers = [] {
        return std::vector<server_figures>{
            {.name = {"u", "a:1"}, .up = false, .ejections = 8}, {.name = {"u", "b:1"}}};
    }});
    auto v = values(r);
    const std::string server = "gateway_upstream_server_";
    EXPECT_EQ(v.at(server + R"(requests_total{upstream="u",server="a:1"})"), 5);
    EXPECT_EQ(v.at(server + R"(connections{upstream="u",server="a:1",state="active"})"), 4);
    EXPECT_EQ(v.at(server + R"(connections{upstream="u",server="a:1",state="idle"})"), 0);
    EXPECT_EQ(v.at(server + R"(failures_total{upstream="u",server="gone:1"})"), 1);
    EXPECT_EQ(v.at(server + R"(up{upstream="u",server="a:1"})"), 0);
    EXPECT_EQ(v.at(server + R"(up{upstream="u",server="b:1"})"), 1);
    EXPECT_EQ(v.at(server + R"(ejections_total{upstream="u",server="a:1"})"), 8);
    EXPECT_FALSE(v.contains(server + R"(up{upstream="u",server="gone:1"})"));
    EXPECT_EQ(v.at(R"(gateway_upstream_queue_length{upstream="u"})"), 5);
    EXPECT_EQ(v.at(R"(gateway_upstream_retries_total{upstream="u",result="sent"})"), 6);
    EXPECT_EQ(v.at(R"(gateway_upstream_retries_total{upstream="u",result="refused"})"), 7);
}

TEST(registry, keeps_blocks_in_place_while_others_are_added)
{
    registry r(2, words, "1");
    route_metrics& first = r.route(1, "m");
    for (int i = 0; i < 1000; ++i) {
        r.route(0, "route" + std::to_string(i));
    }
    EXPECT_EQ(&first, &r.route(1, "m"));
}

TEST(registry, keeps_workers_off_each_others_cache_lines)
{
    registry r(2, words, "1");
    const auto address = [](const auto& block) { return reinterpret_cast<std::uintptr_t>(&block); };
    EXPECT_EQ(address(r.limit(0, "l")) % 64, 0u);
    EXPECT_EQ(address(r.limit(1, "l")) % 64, 0u);
    EXPECT_EQ(address(r.worker(0)) % 64, 0u);
    EXPECT_EQ(address(r.worker(1)) % 64, 0u);
}

TEST(registry, sums_the_workers_of_a_route)
{
    registry r(3, words, "1");
    r.route(0, "api").count_request(method_index("GET"), 200);
    r.route(0, "api").count_request(method_index("GET"), 200);
    r.route(2, "api").count_request(method_index("GET"), 200);
    r.route(2, "api").count_request(method_index("BREW"), 418);
    const auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_requests_total{route="api",method="GET",code="200"})"), 3);
    EXPECT_EQ(v.at(R"(gateway_requests_total{route="api",method="other",code="418"})"), 1);
    const auto rows = std::count_if(v.begin(), v.end(), [](const auto& row) {
        return row.first.starts_with("gateway_requests_total");
    });
    EXPECT_EQ(rows, 2) << "only what was seen";
}

TEST(registry, tells_of_refusals_by_reason_and_of_server_errors_of_every_route)
{
    registry r(2, words, "1");
    r.route(0, "api").count_request(0, 403);
    r.route(1, "other").count_request(0, 502);
    r.route(0, "api").refused[static_cast<std::size_t>(refusal_reason::blocked)].add();
    r.route(1, "api").refused[static_cast<std::size_t>(refusal_reason::blocked)].add();
    r.route(1, "other").server_errors.add();
    const auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_refused_requests_total{route="api",reason="blocked"})"), 2);
    EXPECT_FALSE(v.contains(R"(gateway_refused_requests_total{route="api",reason="rejected"})"));
    EXPECT_EQ(v.at(R"(gateway_server_errors_total{route="api"})"), 0);
    EXPECT_EQ(v.at(R"(gateway_server_errors_total{route="other"})"), 1);
}

TEST(registry, counts_server_errors_of_a_route_from_zero_on)
{
    registry r(1, words, "1");
    r.route(0, "api");
    EXPECT_EQ(values(r).at(R"(gateway_server_errors_total{route="api"})"), 0);
}

TEST(registry, leaves_out_a_family_without_rows)
{
    registry r(1, words, "1");
    r.route(0, "api");
    EXPECT_THAT(r.scrape(), Not(HasSubstr("gateway_requests_total")));
    EXPECT_THAT(r.scrape(), Not(HasSubstr("gateway_request_duration_seconds")));
    EXPECT_THAT(r.scrape(), Not(HasSubstr("gateway_store_up")));
}

TEST(registry, prints_histograms_cumulatively_with_sum_and_count)
{
    registry r(2, words, "1");
    r.route(0, "api").count_request(0, 200);
    r.route(0, "api").duration.observe(std::chrono::microseconds{50});
    r.route(0, "api").duration.observe(std::chrono::milliseconds{3});
    r.route(1, "api").duration.observe(std::chrono::milliseconds{3});
    r.route(1, "api").duration.observe(std::chrono::seconds{20});
    const auto v = values(r);
    const std::string name = "gateway_request_duration_seconds";
    EXPECT_EQ(v.at(name + R"(_bucket{route="api",le="0.0001"})"), 1);
    EXPECT_EQ(v.at(name + R"(_bucket{route="api",le="0.0025"})"), 1);
    EXPECT_EQ(v.at(name + R"(_bucket{route="api",le="0.005"})"), 3);
    EXPECT_EQ(v.at(name + R"(_bucket{route="api",le="10"})"), 3);
    EXPECT_EQ(v.at(name + R"(_bucket{route="api",le="+Inf"})"), 4);
    EXPECT_EQ(v.at(name + R"(_count{route="api"})"), 4);
    EXPECT_NEAR(v.at(name + R"(_sum{route="api"})"), 20.00605, 1e-9);
}

TEST(registry, counts_calls_of_grpc_by_their_status)
{
    registry r(2, words, "1");
    r.route(0, "api").count_request(0, 200);
    r.route(0, "other").count_request(0, 200);
    r.route(0, "api").count_grpc(0);
    r.route(0, "api").count_grpc(16);
    r.route(1, "api").count_grpc(16);
    r.route(1, "api").count_grpc(17);
    r.route(1, "api").count_grpc(4711);
    const auto v = values(r);
    const std::string name = "gateway_grpc_responses_total";
    EXPECT_EQ(v.at(name + R"({route="api",grpc_status="0"})"), 1);
    EXPECT_EQ(v.at(name + R"({route="api",grpc_status="16"})"), 2);
    EXPECT_EQ(v.at(name + R"({route="api",grpc_status="other"})"), 2);
    const auto rows = std::count_if(v.begin(), v.end(), [&name](const auto& row) {
        return row.first.starts_with(name);
    });
    EXPECT_EQ(rows, 3);
}

TEST(registry, prints_every_outcome_of_a_limit_even_at_zero)
{
    registry r(2, words, "1");
    r.limit(0, "per_client").count(outcome::rejected);
    r.limit(1, "per_client").count(outcome::rejected);
    r.limit(1, "per_client").count(outcome::failed_local);
    const auto v = values(r);
    const std::map<std::string_view, double> expected{
        {"allowed", 0},
        {"rejected", 2},
        {"shadow_rejected", 0},
        {"failed_open", 0},
        {"failed_closed", 0},
        {"failed_local", 1},
        {"blocked", 0},
    };
    for (const auto& [name, count] : expected) {
        const std::string row =
            R"(gateway_decisions_total{limit="per_client",outcome=")" + std::string{name} + "\"}";
        EXPECT_EQ(v.at(row), count) << name;
    }
}

TEST(registry, prints_every_known_reason_at_zero_and_no_other)
{
    registry r(1, words, "1");
    r.upstream(0, "backend").failures[1].add(7);
    r.upstream(0, "backend").failures[3].add(9);  // past the vocabulary
    r.store(0, "shared").failures[0].add(2);
    const auto v = values(r);
    const std::string upstream = R"(gateway_upstream_failures_total{upstream="backend",reason=")";
    EXPECT_EQ(v.at(upstream + "refused\"}"), 0);
    EXPECT_EQ(v.at(upstream + "reset\"}"), 7);
    EXPECT_EQ(v.at(upstream + "timeout\"}"), 0);
    const std::string store = R"(gateway_store_failures_total{store="shared",reason=")";
    EXPECT_EQ(v.at(store + "unreachable\"}"), 2);
    EXPECT_EQ(v.at(store + "timeout\"}"), 0);
    const auto rows = std::count_if(v.begin(), v.end(), [](const auto& row) {
        return row.first.find("_failures_total") != std::string::npos;
    });
    EXPECT_EQ(rows, 5);
}

TEST(registry, takes_no_more_reasons_than_a_block_has_counters)
{
    std::array<std::string_view, max_failure_reasons + 4> many;
    many.fill("reason");
    registry r(1, {many, many}, "1");
    r.store(0, "s");
    EXPECT_EQ(values(r).count(R"(gateway_store_failures_total{store="s",reason="reason"})"), 1u);
}

TEST(registry, calls_a_store_up_when_every_worker_that_uses_it_does)
{
    registry r(3, words, "1");
    const std::string row = R"(gateway_store_up{store="shared"})";
    r.store(0, "shared").up.set(1);
    EXPECT_EQ(values(r).at(row), 1) << "the other two do not use it";
    r.store(1, "shared");
    EXPECT_EQ(values(r).at(row), 0);
    r.store(1, "shared").up.set(1);
    EXPECT_EQ(values(r).at(row), 1);
}

TEST(registry, sums_connections_of_all_workers)
{
    registry r(2, words, "1");
    r.worker(0).clients_active.add(3);
    r.worker(1).clients_active.add(4);
    r.worker(1).clients_idle.add(5);
    r.worker(0).upstreams_active.add(6);
    r.worker(1).upstreams_idle.add(7);
    const auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_connections{side="client",state="active"})"), 7);
    EXPECT_EQ(v.at(R"(gateway_connections{side="client",state="idle"})"), 5);
    EXPECT_EQ(v.at(R"(gateway_connections{side="upstream",state="active"})"), 6);
    EXPECT_EQ(v.at(R"(gateway_connections{side="upstream",state="idle"})"), 7);
}

TEST(registry, counts_reloads_and_moves_the_timestamp_only_on_success)
{
    registry r(1, words, "1");
    const std::string timestamp = "gateway_config_last_reload_success_timestamp_seconds";
    const double start = values(r).at(timestamp);
    EXPECT_GT(start, 1.6e9);
    EXPECT_EQ(values(r).at("gateway_config_last_reload_successful"), 1);
    r.count_reload(false);
    auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_config_reloads_total{result="failure"})"), 1);
    EXPECT_EQ(v.at(R"(gateway_config_reloads_total{result="success"})"), 0);
    EXPECT_EQ(v.at(timestamp), start);
    EXPECT_EQ(v.at("gateway_config_last_reload_successful"), 0);
    r.count_reload(true);
    v = values(r);
    EXPECT_EQ(v.at("gateway_config_last_reload_successful"), 1);
    EXPECT_EQ(v.at(R"(gateway_config_reloads_total{result="success"})"), 1);
    EXPECT_GT(v.at(timestamp), start);
}

TEST(registry, asks_its_sources_at_each_scrape)
{
    registry r(1, words, "1");
    EXPECT_THAT(r.scrape(), Not(HasSubstr("gateway_buckets")));
    std::size_t buckets = 5;
    r.set_sources({
        .buckets = [&] { return buckets; },
        .turned_away = [] { return 3u; },
        .dropped_lines = [] { return 11u; },
    });
    EXPECT_EQ(values(r).at(R"(gateway_buckets{store="local"})"), 5);
    buckets = 6;
    const auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_buckets{store="local"})"), 6);
    EXPECT_EQ(v.at(R"(gateway_buckets_turned_away_total{store="local"})"), 3);
    EXPECT_EQ(v.at("gateway_access_log_dropped_lines_total"), 11);
}

TEST(registry, tells_of_plans_what_its_source_knows)
{
    registry r(1, words, "1");
    EXPECT_THAT(r.scrape(), Not(HasSubstr("gateway_plan")));
    r.set_sources({.plans = [] {
        return std::vector<plan_figures>{
            {"api", 7, 0}, {"nets", 0, 2, true, false}, {"keys", 0, 0, true, true}};
    }});
    const auto v = values(r);
    EXPECT_FALSE(v.contains(R"(gateway_plan_file_in_force{plans="api"})"));
    EXPECT_EQ(v.at(R"(gateway_plan_file_in_force{plans="nets"})"), 0);
    EXPECT_EQ(v.at(R"(gateway_plan_file_in_force{plans="keys"})"), 1);
    EXPECT_EQ(v.at(R"(gateway_plan_members{plans="api"})"), 7);
    EXPECT_EQ(v.at(R"(gateway_plan_file_errors_total{plans="api"})"), 0);
    EXPECT_EQ(v.at(R"(gateway_plan_file_errors_total{plans="nets"})"), 2);
}

TEST(registry, tells_its_version_and_its_process)
{
    registry r(1, words, "1.2.3");
    const auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_build_info{version="1.2.3"})"), 1);
    EXPECT_GE(v.at("process_cpu_seconds_total"), 0);
    EXPECT_GT(v.at("process_resident_memory_bytes"), 100'000);
    EXPECT_GT(v.at("process_virtual_memory_bytes"), v.at("process_resident_memory_bytes"));
    EXPECT_GE(v.at("process_open_fds"), 3);
    EXPECT_GT(v.at("process_max_fds"), v.at("process_open_fds"));
    EXPECT_GE(v.at("process_threads"), 1);
    EXPECT_NEAR(
        v.at("process_start_time_seconds"),
        v.at("gateway_config_last_reload_success_timestamp_seconds"),
        600
    );
}

TEST(registry, escapes_names_in_labels)
{
    registry r(1, words, "1");
    r.limit(0, "a\"b\\c\nd");
    EXPECT_THAT(r.scrape(), HasSubstr(R"(limit="a\"b\\c\nd")"));
}

TEST(registry, counts_every_request_once_while_two_threads_scrape_and_register)
{
    registry r(2, words, "1");
    route_metrics& mine = r.route(0, "api");
    mine.count_request(0, 200);  // so that the route has rows from the first scrape on
    mine.duration.observe(std::chrono::milliseconds{1});
    constexpr int enough = 30;  // scrapes of each thread
    std::atomic<int> scraping{2};
    std::atomic<bool> inconsistent{false};
    const auto scrape = [&](std::size_t worker) {
        const std::string name = "gateway_request_duration_seconds";
        for (int i = 0; i < enough; ++i) {
            r.route(worker, "extra" + std::to_string(i));
            const auto v = values(r);
            inconsistent = inconsistent || v.at(name + R"(_count{route="api"})") !=
                                               v.at(name + R"(_bucket{route="api",le="+Inf"})");
        }
        --scraping;
    };
    std::vector<std::thread> scrapers;
    scrapers.emplace_back(scrape, 0);
    scrapers.emplace_back(scrape, 1);
    double written = 1;
    while (scraping > 0) {
        mine.count_request(0, 200);
        mine.duration.observe(std::chrono::milliseconds{static_cast<int>(written) % 100});
        ++written;
    }
    for (auto& scraper : scrapers) {
        scraper.join();
    }
    EXPECT_FALSE(inconsistent);
    const auto v = values(r);
    EXPECT_EQ(v.at(R"(gateway_requests_total{route="api",method="GET",code="200"})"), written);
    EXPECT_EQ(v.at(R"(gateway_request_duration_seconds_count{route="api"})"), written);
}

// A registry with every family in it.
std::string full_scrape()
{
    registry r(1, words, "1.2.3");
    r.route(0, "api").count_request(0, 200);
    r.limit(0, "per_client");
    r.store(0, "shared");
    r.upstream(0, "backend");
    const auto one = [] { return 1u; };
    r.set_sources({.buckets = one, .turned_away = one, .dropped_lines = one});
    return r.scrape();
}

TEST(registry, writes_every_promised_name)
{
    const std::string text = full_scrape();
    for (const auto* line : {
             "# TYPE gateway_requests_total counter",
             "# TYPE gateway_request_duration_seconds histogram",
             "# TYPE gateway_upstream_duration_seconds histogram",
             "# TYPE gateway_upstream_failures_total counter",
             "# TYPE gateway_decisions_total counter",
             "# TYPE gateway_store_request_duration_seconds histogram",
             "# TYPE gateway_store_requests_total counter",
             "# TYPE gateway_store_failures_total counter",
             "# TYPE gateway_store_up gauge",
             "# TYPE gateway_buckets gauge",
             "# TYPE gateway_buckets_turned_away_total counter",
             "# TYPE gateway_access_log_dropped_lines_total counter",
             "# TYPE gateway_connections gauge",
             "# TYPE gateway_config_reloads_total counter",
             "# TYPE gateway_config_last_reload_success_timestamp_seconds gauge",
             "# TYPE gateway_build_info gauge",
             "# TYPE process_cpu_seconds_total counter",
         }) {
        EXPECT_THAT(text, HasSubstr(std::string{line} + "\n"));
    }
}

TEST(registry, passes_promtool)
{
    if (std::system("command -v promtool >/dev/null") != 0) {
        GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
    }
    FILE* promtool = popen("promtool check metrics", "w");
    ASSERT_NE(promtool, nullptr);
    const std::string text = full_scrape();
    ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), promtool), text.size());
    EXPECT_EQ(pclose(promtool), 0);
}

}  // namespace registry_test
}  // namespace gateway::telemetry
