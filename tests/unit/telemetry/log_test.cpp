#include "gateway/telemetry/log.hpp"

#include "gateway/telemetry/diagnostics.hpp"
#include "tests/unit/telemetry/pipe_pair.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gateway::telemetry {
namespace log_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr base::instant start{std::chrono::hours{1}};
constexpr base::duration second = std::chrono::seconds{1};

std::ptrdiff_t count_lines(const std::string& text)
{
    return std::count(text.begin(), text.end(), '\n');
}

TEST(diagnostics, print_a_line_of_json_and_no_level_below_the_configured)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    d.configure({log_level::warning, true, log_format::json});
    d.write(log_level::debug, "no", start);
    d.write(log_level::info, "no", start);
    d.write(log_level::warning, "careful: \"x\"\n\xff", start);
    d.write(log_level::error, "broken {} %v", start);
    const std::string text = pipe.read_available();
    ASSERT_EQ(count_lines(text), 2) << text;
    const std::size_t end = text.find('\n');
    const auto first = boost::json::parse(text.substr(0, end)).as_object();
    EXPECT_EQ(first.at("level"), "warning");
    EXPECT_EQ(first.at("message"), "careful: \"x\"\n\ufffd");
    EXPECT_THAT(
        first.at("time").as_string().c_str(), MatchesRegex("20[0-9-]+T[0-9:]+\\.[0-9][0-9][0-9]Z")
    );
    const auto other = boost::json::parse(text.substr(end + 1)).as_object();
    EXPECT_EQ(other.at("level"), "error");
    EXPECT_EQ(other.at("message"), "broken {} %v");
}

TEST(diagnostics, print_text_and_follow_a_reload)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    d.configure({log_level::debug, true, log_format::text});
    d.write(log_level::debug, "did you mean \"burst\"?\r\nforged line", start);
    const std::string text = pipe.read_available();
    EXPECT_THAT(text, MatchesRegex("20[0-9-]+T[0-9:]+\\.[0-9]+Z debug: .*\n"));
    EXPECT_THAT(text, EndsWith("did you mean \"burst\"?\\x0d\\x0aforged line\n"));
    d.configure({log_level::error, true, log_format::text});
    d.write(log_level::warning, "no", start);
    EXPECT_EQ(pipe.read_available(), "");
}

TEST(diagnostics, sum_up_what_is_past_their_rate)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&d] {
            for (int i = 0; i < 500; ++i) {
                d.write(log_level::error, "again", start);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(count_lines(pipe.read_available()), 100);
    d.write(log_level::info, "later", start + second);
    const std::string text = pipe.read_available();
    EXPECT_EQ(count_lines(text), 2) << text;
    EXPECT_THAT(text, HasSubstr("\"900 log lines suppressed\""));
    EXPECT_THAT(text, HasSubstr("\"later\""));
}

TEST(diagnostics, say_at_the_end_how_many_lines_are_missing)
{
    pipe_pair pipe;
    auto d = std::make_unique<diagnostics>(pipe.writer());
    for (std::uint64_t i = 0; i < log_options{}.max_lines_per_second + 7; ++i) {
        d->write(log_level::error, "again", start);
    }
    d.reset();
    EXPECT_THAT(pipe.read_available(), HasSubstr("\"7 log lines suppressed\""));
}

TEST(diagnostics, report_missing_lines_without_another_line_when_their_second_is_over)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    for (std::uint64_t i = 0; i < log_options{}.max_lines_per_second + 7; ++i) {
        d.write(log_level::error, "again", start);
    }
    pipe.read_available();
    d.report_suppressed(start + second / 2);
    EXPECT_EQ(pipe.read_available(), "");
    d.report_suppressed(start + second);
    EXPECT_THAT(pipe.read_available(), HasSubstr("\"7 log lines suppressed\""));
    d.report_suppressed(start + 2 * second);
    EXPECT_EQ(pipe.read_available(), "");
}

TEST(diagnostics, report_missing_lines_whatever_their_level_is)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    d.configure({.level = log_level::error, .max_lines_per_second = 1});
    d.write(log_level::error, "again", start);
    d.write(log_level::error, "again", start);
    d.report_suppressed(start + second);
    EXPECT_THAT(pipe.read_available(), HasSubstr("\"1 log lines suppressed\""));
}

TEST(diagnostics, print_outcomes_whatever_the_number_of_other_lines)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    d.configure({.max_lines_per_second = 3});
    for (int i = 0; i < 5; ++i) {
        d.write(log_level::warning, "again", start);
    }
    pipe.read_available();
    for (int i = 0; i < 5; ++i) {
        d.write_outcome(log_level::info, "reloaded", start);
    }
    const std::string text = pipe.read_available();
    EXPECT_EQ(count_lines(text), 4) << text;
    EXPECT_THAT(text, HasSubstr("\"2 log lines suppressed\""));
    EXPECT_THAT(text, HasSubstr("\"reloaded\""));
    d.report_suppressed(start + second);
    EXPECT_THAT(pipe.read_available(), HasSubstr("\"2 log lines suppressed\""));
}

TEST(diagnostics, do_not_block_when_nobody_reads_and_lose_no_count)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    const std::string long_line(2000, 'x');
    constexpr int seconds = 3;
    for (int s = 0; s < seconds; ++s) {  // 600 KB into a pipe of 64
        for (std::uint64_t i = 0; i < log_options{}.max_lines_per_second; ++i) {
            d.write(log_level::error, long_line, start + s * second);
        }
    }
    const std::ptrdiff_t printed = count_lines(pipe.read_available());
    EXPECT_GT(printed, 10);
    const auto lost =
        seconds * static_cast<std::ptrdiff_t>(log_options{}.max_lines_per_second) - printed;
    d.write(log_level::error, "later", start + seconds * second);
    EXPECT_THAT(
        pipe.read_available(), HasSubstr("\"" + std::to_string(lost) + " log lines suppressed")
    );
}

TEST(diagnostics, cut_endless_lines)
{
    pipe_pair pipe;
    diagnostics d(pipe.writer());
    d.write(log_level::error, std::string(100'000, 'x'), start);
    const std::string text = pipe.read_available();
    EXPECT_LT(text.size(), 4096u);
    EXPECT_THAT(text, EndsWith("...\"}\n"));
}

TEST(log, goes_to_stderr)
{
    pipe_pair pipe;
    const int saved = ::dup(STDERR_FILENO);
    ::dup2(pipe.writer(), STDERR_FILENO);
    configure_log({log_level::info, true, log_format::text});
    log(log_level::info, "listening");
    ::dup2(saved, STDERR_FILENO);
    ::close(saved);
    EXPECT_THAT(pipe.read_available(), EndsWith(" info: listening\n"));
}

}  // namespace log_test
}  // namespace gateway::telemetry
