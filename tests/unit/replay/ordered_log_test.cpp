#include "gateway/replay/logs/merged_logs.hpp"
#include "tests/unit/own_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

namespace gateway::replay {
namespace ordered_log_test {

std::string line_at(int second, const std::string& path = "/")
{
    const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    return "192.0.2.1 - - [28/Nov/2026:10:" + two(second / 60) + ":" + two(second % 60) +
           " +0000] \"GET " + path + " HTTP/1.1\" 200 2 \"-\" \"-\"\n";
}

class ordered_logs : public ::testing::Test {
protected:
    std::string file(const std::string& name, const std::string& text)
    {
        const std::string path = folder_.path() / name;
        std::ofstream{path, std::ios::binary} << text;
        return path;
    }

    // Returns the seconds of all requests, in the order in which they come.
    std::vector<int> seconds_of(const std::vector<std::string>& paths)
    {
        merged_logs logs{paths, wanted_, {}};
        std::vector<int> seconds;
        for (const auto* r = logs.next(); r != nullptr; r = logs.next()) {
            seconds.push_back(static_cast<int>(r->at / std::chrono::seconds{1} - 1'795'860'000));
        }
        counts_ = logs.counts();
        return seconds;
    }

    line_counts counts_;

private:
    unit::own_folder folder_;
    wanted_parts wanted_;
};

TEST_F(ordered_logs, put_lines_of_a_minute_in_order)
{
    std::mt19937 random{5};
    std::vector<int> seconds;
    std::string text;
    for (int i = 0; i < 3000; ++i) {
        const int late = static_cast<int>(random() % 59);
        seconds.push_back(std::max(i / 2 - late, 0));
        text += line_at(seconds.back());
    }
    std::stable_sort(seconds.begin(), seconds.end());
    EXPECT_EQ(seconds_of({file("a", text)}), seconds);
    EXPECT_EQ(counts_.late, 0U);
}

TEST_F(ordered_logs, count_what_comes_too_late_from_then)
{
    std::string text = line_at(0);
    for (const int second : {200, 300}) {
        for (std::size_t i = 0; i < 2 * ordered_log::lines_of_progress; ++i) {
            text += line_at(second);
        }
    }
    const auto seconds = seconds_of({file("a", text + line_at(1))});
    EXPECT_EQ(seconds.front(), 0);
    EXPECT_EQ(std::count(seconds.begin(), seconds.end(), 200), 33);
    EXPECT_EQ(counts_.late, 1U);
}

TEST_F(ordered_logs, put_lines_in_order_behind_one_from_the_future)
{
    std::string text = line_at(0) + line_at(3000);
    std::vector<int> expected{0};
    for (int i = 0; i < 500; ++i) {
        text += line_at(i + 1 + (i % 2 == 0 ? 1 : -1));
        expected.push_back(i + 1);
    }
    expected.push_back(3000);
    EXPECT_EQ(seconds_of({file("a", text)}), expected);
    EXPECT_EQ(counts_.late, 0U);
}

TEST_F(ordered_logs, keep_the_order_of_the_file_within_a_second)
{
    const std::string path = file("a", line_at(5, "/1") + line_at(5, "/2") + line_at(4, "/0"));
    wanted_parts wanted;
    merged_logs logs{std::vector{path}, wanted, {}};
    std::string seen;
    for (const auto* r = logs.next(); r != nullptr; r = logs.next()) {
        seen += r->target;
    }
    EXPECT_EQ(seen, "/0/1/2");
}

TEST_F(ordered_logs, know_no_part_that_a_line_hides)
{
    const auto caddy_line = [](const std::string& value) {
        return R"({"ts":1795860000.5,"request":{"remote_ip":"192.0.2.1","method":"GET","uri":"/",)"
               R"("headers":{"X-Key":[")" +
               value + R"("]}},"status":200})" + "\n";
    };
    const std::string path = file("a", caddy_line("k") + caddy_line("REDACTED"));
    wanted_parts wanted;
    const auto key =
        wanted.add({.from = policy::key_part::source::header, .name = "x-key", .text = {}});
    merged_logs logs{std::vector{path}, wanted, {}};
    EXPECT_EQ(logs.next()->known & bit(*key), bit(*key));
    EXPECT_EQ(logs.next()->known & bit(*key), 0U);
}

// Lines as long as a line may be: 4,096 of them would fill 256 MiB.
TEST_F(ordered_logs, hold_no_more_bytes_than_they_may)
{
    const std::string path(log_lines::longest - 200, 'p');
    const std::string log = file("a", "");
    {
        std::ofstream out{log, std::ios::binary};
        for (int i = 0; i < 4096; ++i) {
            out << line_at(1, "/" + path);
        }
        out << line_at(0);
    }
    EXPECT_EQ(seconds_of({log}).size(), 4097U);
    EXPECT_EQ(counts_.late, 1U) << "the lines before the last one did not wait for it";
}

TEST_F(ordered_logs, merge_files)
{
    const std::string a = file("a", line_at(1) + line_at(3) + line_at(1000));
    const std::string b = file("b", line_at(2) + line_at(400) + line_at(1001));
    EXPECT_EQ(seconds_of({b, a}), (std::vector{1, 2, 3, 400, 1000, 1001}));
}

TEST_F(ordered_logs, count_bad_lines_and_not_one_that_is_being_written)
{
    EXPECT_EQ(
        seconds_of({file("a", line_at(1) + "bad\r\n\n" + line_at(2) + line_at(3).substr(0, 30))}),
        (std::vector{1, 2})
    );
    EXPECT_EQ(counts_.lines, 3U);
    EXPECT_EQ(counts_.bad, 1U);
    EXPECT_EQ(counts_.first_bad->line, 2U);
    EXPECT_EQ(counts_.first_bad->text, "bad");
}

TEST_F(ordered_logs, count_a_line_that_is_too_long_as_one_bad_line)
{
    const std::string good = line_at(7);
    for (const std::size_t length : {65'537U, 70'000U, 131'072U, 131'073U, 500'000U}) {
        // It could be read if it were cut after so many bytes.
        std::string line = good.substr(0, good.size() - 2);
        line.resize(length, 'x');
        EXPECT_EQ(
            seconds_of({file("b", line_at(1) + line + "\n" + line_at(2))}), (std::vector{1, 2})
        );
        EXPECT_EQ(counts_.lines, 3U) << length;
        EXPECT_EQ(counts_.bad, 1U) << length;
        EXPECT_EQ(counts_.first_bad->text, line.substr(0, ordered_log::most_shown));
        EXPECT_EQ(seconds_of({file("c", line_at(1) + line)}), (std::vector{1}));
        EXPECT_EQ(counts_.bad, 0U) << length;
    }
    std::string longest = good.substr(0, good.size() - 2);
    longest.resize(log_lines::longest - 1, 'x');
    EXPECT_EQ(
        seconds_of({file("d", line_at(1) + longest + "\"\n" + line_at(9))}), (std::vector{1, 7, 9})
    );
    EXPECT_EQ(counts_.bad, 0U);
}

}  // namespace ordered_log_test
}  // namespace gateway::replay
