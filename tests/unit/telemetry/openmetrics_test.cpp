#include "gateway/telemetry/openmetrics.hpp"

#include "gateway/telemetry/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace gateway::telemetry {
namespace openmetrics_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

const exemplar slow{.trace_high = 1, .trace_low = 0xab, .value = milliseconds{3}, .at = seconds{7}};

TEST(openmetrics, writes_counters_without_their_suffix_in_the_head)
{
    families all;
    add_row(all.counter("a_total", "What \"a\" is.\nReally."), {{"l", "x\"\\\n"}}, 3);
    (void)all.gauge("absent", "Has no row.");
    add_row(all.gauge("b", "B."), {}, 0.5);
    EXPECT_EQ(
        to_openmetrics(std::move(all)),
        "# HELP a What \\\"a\\\" is.\\nReally.\n# TYPE a counter\na_total{l=\"x\\\"\\\\\\n\"} 3.0\n"
        "# HELP b B.\n# TYPE b gauge\nb 0.5\n# EOF\n"
    );
}

TEST(openmetrics, writes_histograms_with_exemplars)
{
    registry r(1, {}, "1");
    r.route(0, "a").count_request(0, 200);
    r.route(0, "a").duration.observe(slow.value);
    r.route(0, "a").note_traced(slow);
    const std::string text = r.scrape(exposition_format::openmetrics);
    EXPECT_THAT(
        text,
        HasSubstr("gateway_request_duration_seconds_bucket{route=\"a\",le=\"0.0025\"} 0\n"
                  "gateway_request_duration_seconds_bucket{route=\"a\",le=\"0.005\"} 1"
                  " # {trace_id=\"000000000000000100000000000000ab\"} 0.003 7.0\n")
    );
    EXPECT_THAT(text, HasSubstr("le=\"1.0\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("le=\"+Inf\"} 1\n"));
    EXPECT_THAT(r.scrape(), Not(HasSubstr("trace_id")));
}

TEST(exemplars, keep_the_last_request_of_each_bucket)
{
    exemplars kept;
    EXPECT_FALSE(kept.of_bucket(0));
    kept.note(slow);
    exemplar later = slow;
    later.trace_low = 0xcd;
    kept.note(later);
    const auto found = kept.of_bucket(histogram::bucket_of(slow.value));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->trace_low, 0xcdU);
    EXPECT_FALSE(kept.of_bucket(histogram::buckets - 1));
}

TEST(exemplars, are_whole_while_they_are_replaced)
{
    exemplars kept;
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (std::uint64_t i = 1; i < 20'000; ++i) {
            kept.note({.trace_high = i, .trace_low = i, .value = milliseconds{3}, .at = {}});
        }
        done = true;
    });
    while (!done) {
        if (const auto e = kept.of_bucket(histogram::bucket_of(milliseconds{3}))) {
            EXPECT_EQ(e->trace_high, e->trace_low);
        }
    }
    writer.join();
}

}  // namespace openmetrics_test
}  // namespace gateway::telemetry
