#include "gateway/telemetry/metrics.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gateway::telemetry {
namespace metrics_test {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(method_index, knows_every_name_and_calls_the_rest_other)
{
    for (std::size_t i = 0; i < method_names.size(); ++i) {
        EXPECT_EQ(method_index(method_names[i]), i);
    }
    const std::size_t other = method_names.size() - 1;
    for (const auto* stranger : {"", "get", "GETS", "GE", "PROPFIND", "Other", "\xff"}) {
        EXPECT_EQ(method_index(stranger), other) << stranger;
    }
}

TEST(histogram, counts_a_duration_in_the_first_bucket_whose_bound_it_does_not_pass)
{
    for (std::size_t i = 0; i < histogram::bounds_ns.size(); ++i) {
        const std::int64_t bound = histogram::bounds_ns[i];
        histogram h;
        h.observe(nanoseconds{bound});
        h.observe(nanoseconds{bound + 1});
        EXPECT_EQ(h.count(i), 1u) << i;
        EXPECT_EQ(h.count(i + 1), 1u) << i;
    }
}

TEST(histogram, puts_what_is_past_the_last_bound_into_a_bucket_of_its_own)
{
    histogram h;
    h.observe(seconds{3600});
    EXPECT_EQ(h.count(histogram::bounds_seconds.size()), 1u);
    EXPECT_DOUBLE_EQ(h.sum_seconds(), 3600.0);
}

TEST(histogram, takes_a_negative_duration_for_zero)
{
    histogram h;
    h.observe(microseconds{-5});
    EXPECT_EQ(h.count(0), 1u);
    EXPECT_DOUBLE_EQ(h.sum_seconds(), 0.0);
}

TEST(route_metrics, allocates_a_row_only_for_methods_it_has_seen)
{
    route_metrics m;
    m.count_request(method_index("POST"), 201);
    for (std::size_t i = 0; i < method_names.size(); ++i) {
        EXPECT_EQ(m.requests[i].load() != nullptr, method_names[i] == "POST");
    }
    EXPECT_EQ((*m.requests[method_index("POST")].load())[101].value(), 1u);
}

TEST(route_metrics, counts_a_code_that_is_none_as_599)
{
    route_metrics m;
    for (const int code : {-1, 0, 99, 599, 600, 999}) {
        m.count_request(0, code);
    }
    m.count_request(0, 100);
    EXPECT_EQ((*m.requests[0].load())[499].value(), 6u);
    EXPECT_EQ((*m.requests[0].load())[0].value(), 1u);
}

TEST(counters, are_never_seen_to_step_back_by_two_readers_of_one_writer)
{
    constexpr std::uint64_t last = 200'000;
    route_metrics m;
    std::atomic<bool> stepped_back{false};
    std::atomic<int> reading{0};
    const auto read = [&] {
        ++reading;
        std::uint64_t before = 0;
        std::uint64_t observed_before = 0;
        while (before < last || observed_before < last) {
            const auto* row = m.requests[0].load(std::memory_order_acquire);
            const std::uint64_t now = row == nullptr ? 0 : (*row)[100].value();
            const std::uint64_t observed = m.duration.count(3);
            stepped_back = stepped_back || now < before || observed < observed_before;
            before = now;
            observed_before = observed;
        }
    };
    std::vector<std::thread> readers;
    readers.emplace_back(read);
    readers.emplace_back(read);
    while (reading < 2) {
        std::this_thread::yield();
    }
    for (std::uint64_t i = 0; i < last; ++i) {
        m.count_request(0, 200);
        m.duration.observe(std::chrono::milliseconds{1});
    }
    for (auto& reader : readers) {
        reader.join();
    }
    EXPECT_FALSE(stepped_back);
}

}  // namespace metrics_test
}  // namespace gateway::telemetry
