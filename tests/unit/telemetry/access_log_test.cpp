#include "gateway/telemetry/access_log.hpp"

#include "tests/unit/telemetry/pipe_pair.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gateway::telemetry {
namespace access_log_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

const log_options as_json{log_level::info, true, log_format::json};
const log_options as_text{log_level::info, true, log_format::text};

// What the lines for these records look like.
std::string logged(const std::vector<access_record>& records, log_options options)
{
    pipe_pair pipe;
    {
        access_log_writer writer(output_to(pipe.writer()), options);
        access_log log(writer);
        for (const auto& record : records) {
            log.write(record);
        }
    }
    pipe.close_writer();
    return pipe.read_to_end();
}

constexpr std::array<limit_cost, 2> full_costs{{{"per_client", 5}, {"all", 1}}};
const std::array<field_value, 1> full_fields{{{"tenant", "a \"b\""}}};

access_record full_record()
{
    return {
        .client = base::ip_address::v4(0xc0000201),
        .peer = base::ip_address::v4(0x0a000001),
        .method = "GET",
        .host = "api.example.com",
        .target = "/v1/items?token=secret",
        .route = "api",
        .upstream = "backend",
        .limit = "per_client",
        .outcome = "rejected",
        .plans = "gold,staff",
        .bucket = "0123456789abcdef",
        .decided = base::instant{std::chrono::seconds{1}},
        .costs = full_costs,
        .fields = full_fields,
        .shadow_rejected = "a,b",
        .request_id = "id-1",
        .server = "10.0.0.7:9000",
        .upstream_time = std::chrono::microseconds{1500},
        .attempts = 2,
        .status = 429,
        .request_bytes = 10,
        .response_bytes = 1234567890123,
        .duration = std::chrono::nanoseconds{12'003'456'999},
        .error = "limited",
    };
}

TEST(access_log, writes_one_json_object_with_every_field)
{
    const std::string text = logged({full_record()}, as_json);
    ASSERT_EQ(text.back(), '\n');
    const auto line = boost::json::parse(text).as_object();
    EXPECT_EQ(line.at("client"), "192.0.2.1");
    EXPECT_EQ(line.at("peer"), "10.0.0.1");
    EXPECT_EQ(line.at("method"), "GET");
    EXPECT_EQ(line.at("host"), "api.example.com");
    EXPECT_EQ(line.at("target"), "/v1/items");
    EXPECT_EQ(line.at("route"), "api");
    EXPECT_EQ(line.at("upstream"), "backend");
    EXPECT_EQ(line.at("limit"), "per_client");
    EXPECT_EQ(line.at("outcome"), "rejected");
    EXPECT_EQ(line.at("plan"), "gold,staff");
    EXPECT_EQ(line.at("bucket"), "0123456789abcdef");
    EXPECT_EQ(line.at("shadow_rejected"), boost::json::parse(R"(["a","b"])"));
    EXPECT_EQ(line.at("request_id"), "id-1");
    EXPECT_EQ(line.at("server"), "10.0.0.7:9000");
    EXPECT_EQ(line.at("upstream_seconds"), 0.0015);
    EXPECT_EQ(line.at("attempts"), 2);
    EXPECT_EQ(line.at("status"), 429);
    EXPECT_EQ(line.at("request_bytes"), 10);
    EXPECT_EQ(line.at("response_bytes"), 1234567890123);
    EXPECT_EQ(line.at("duration_seconds"), 12.003456);
    EXPECT_EQ(line.at("error"), "limited");
    EXPECT_THAT(
        line.at("time").as_string().c_str(), MatchesRegex("20[0-9-]+T[0-9:]+\\.[0-9][0-9][0-9]Z")
    );
}

TEST(access_log, says_what_limits_decided_and_when)
{
    const auto line = boost::json::parse(logged({full_record()}, as_json)).as_object();
    EXPECT_EQ(line.at("cost"), 5);
    EXPECT_EQ(line.at("costs"), boost::json::parse(R"({"per_client":5,"all":1})"));
    EXPECT_EQ(line.at("fields"), boost::json::parse(R"({"tenant":"a \"b\""})"));

    constexpr std::array<limit_cost, 2> same{{{"a", 3}, {"b", 3}}};
    access_record earlier;
    earlier.decided = base::instant{};
    access_record later;
    later.decided = base::instant{base::duration{7}};
    later.costs = same;
    const std::string text = logged({earlier, later}, as_json);
    std::istringstream lines(text);
    std::string first;
    std::string second;
    std::getline(lines, first);
    std::getline(lines, second);
    const auto at = [](const std::string& l) {
        return boost::json::parse(l).at("decided").as_int64();
    };
    EXPECT_EQ(at(second) - at(first), 7) << "exactly as the clock of the decisions";
    EXPECT_EQ(boost::json::parse(second).at("cost"), 3);
    EXPECT_FALSE(boost::json::parse(second).as_object().contains("costs"));
    EXPECT_LE(at(first), base::unix_time().count()) << "the clock's beginning is in the past";

    constexpr std::array<limit_cost, 2> by_chance{{{"a", 3}, {"b", 3, true}}};
    later.costs = by_chance;
    const auto named = boost::json::parse(logged({later}, as_json)).as_object();
    EXPECT_EQ(named.at("costs"), boost::json::parse(R"({"a":3,"b":3})"));
    later.costs = std::span{by_chance}.last(1);
    EXPECT_FALSE(boost::json::parse(logged({later}, as_json)).as_object().contains("costs"));
}

TEST(access_log, leaves_out_what_there_is_not)
{
    const auto line = boost::json::parse(logged({access_record{}}, as_json)).as_object();
    for (const auto* absent :
         {"route",
          "upstream",
          "limit",
          "outcome",
          "plan",
          "bucket",
          "shadow_rejected",
          "decided",
          "cost",
          "costs",
          "fields",
          "request_id",
          "server",
          "upstream_seconds",
          "attempts",
          "error"}) {
        EXPECT_FALSE(line.contains(absent)) << absent;
    }
    EXPECT_EQ(line.at("duration_seconds"), 0.0);
}

TEST(access_log, never_writes_a_query)
{
    access_record record;
    for (const auto* target : {"/a?secret", "/a?b?secret", "?secret", "http://h/a?secret=1"}) {
        record.target = target;
        EXPECT_THAT(logged({record}, as_json), Not(HasSubstr("secret")));
        EXPECT_THAT(logged({record}, as_text), Not(HasSubstr("secret")));
    }
}

TEST(access_log, keeps_one_line_per_request_whatever_the_bytes)
{
    const std::string nasty = "x\"\\\r\n\x01\x7f\xff\xc0\xaf{}";
    access_record record = full_record();
    record.method = nasty;
    record.host = nasty;
    record.target = nasty;
    record.error = nasty;
    record.request_id = nasty;
    for (const log_options& options : {as_json, as_text}) {
        const std::string text = logged({record, record}, options);
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
        EXPECT_EQ(text.find('\r'), std::string::npos);
        EXPECT_EQ(text.find('\xff'), std::string::npos);
    }
    std::istringstream lines(logged({record}, as_json));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(
        boost::json::parse(line).at("host").as_string(), "x\"\\\r\n\x01\x7f\ufffd\ufffd\ufffd{}"
    );
}

TEST(access_log, writes_a_line_for_people_in_text_format)
{
    const std::string text = logged({full_record()}, as_text);
    EXPECT_THAT(
        text,
        MatchesRegex(
            "192\\.0\\.2\\.1 - - \\[[0-9][0-9]/[A-Z][a-z]+/20[0-9:]+ \\+0000\\] \"GET /v1/items\" "
            "429 "
            "1234567890123 12\\.003456 peer=10\\.0\\.0\\.1 host=\"api\\.example\\.com\" "
            "route=\"api\" "
            "upstream=\"backend\" limit=\"per_client\" outcome=\"rejected\" "
            "plan=\"gold,staff\" bucket=\"0123456789abcdef\" shadow_rejected=\"a,b\" "
            "decided=[0-9]+ cost=5 costs=\"per_client=5,all=1\" "
            "request_id=\"id-1\" "
            "server=\"10\\.0\\.0\\.7:9000\" upstream_seconds=0\\.001500 attempts=2 "
            "error=\"limited\" tenant=\"a .\"b.\"\"\n"
        )
    );
}

TEST(access_log, says_how_a_call_of_grpc_ended)
{
    access_record call = full_record();
    call.grpc_status = 8;
    const auto line = boost::json::parse(logged({call}, as_json)).as_object();
    EXPECT_EQ(line.at("status"), 429);
    EXPECT_EQ(line.at("grpc_status"), 8);
    EXPECT_THAT(logged({call}, as_text), HasSubstr("\" grpc_status=8 server=\""));
    call.grpc_status = 0;
    EXPECT_THAT(logged({call}, as_json), HasSubstr("\"grpc_status\":0,"));
    EXPECT_THAT(logged({full_record()}, as_json), Not(HasSubstr("grpc_status")));
    EXPECT_THAT(logged({full_record()}, as_text), Not(HasSubstr("grpc_status")));
}

TEST(access_log, bounds_a_line_with_endless_fields)
{
    const std::string endless(1'000'000, '\n');
    access_record record;
    record.method = record.host = record.target = record.error = endless;
    EXPECT_LT(logged({record}, as_json).size(), 60'000u);
}

TEST(access_log, writes_nothing_when_turned_off_and_follows_a_reload)
{
    pipe_pair pipe;
    {
        access_log_writer writer(
            output_to(pipe.writer()), {log_level::info, false, log_format::json}
        );
        access_log log(writer);
        EXPECT_FALSE(writer.enabled());
        log.write(full_record());
        writer.configure(as_text);
        EXPECT_TRUE(writer.enabled());
        log.write(full_record());
        writer.configure(as_json);
        log.write(full_record());
    }
    pipe.close_writer();
    const std::string text = pipe.read_to_end();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_EQ(text.rfind("192.0.2.1 ", 0), 0u);
    EXPECT_THAT(text, HasSubstr("\n{\"time\""));
}

TEST(access_log, hands_over_when_its_buffer_is_full)
{
    pipe_pair pipe;
    access_log_writer writer(output_to(pipe.writer()), as_json);
    access_log log(writer);
    for (int i = 0; i < 140; ++i) {  // of about 400 bytes
        log.write(full_record());
    }
    char first = 0;
    EXPECT_EQ(::read(pipe.reader(), &first, 1), 1) << "without a flush of ours";
    EXPECT_EQ(first, '{');
}

TEST(access_log_writer, loses_no_line_of_several_workers)
{
    constexpr int workers = 4;
    constexpr int lines = 5000;
    pipe_pair pipe;
    std::string text;
    std::thread reader([&] { text = pipe.read_to_end(); });
    {
        access_log_writer writer(output_to(pipe.writer()), as_json);
        std::vector<std::thread> threads;
        for (int w = 0; w < workers; ++w) {
            threads.emplace_back([&writer] {
                access_log log(writer);
                for (int i = 0; i < lines; ++i) {
                    log.write(full_record());
                }
            });
        }
        for (auto& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(writer.dropped_lines(), 0u);
    }
    pipe.close_writer();
    reader.join();
    std::istringstream all(text);
    int count = 0;
    for (std::string line; std::getline(all, line); ++count) {
        ASSERT_EQ(boost::json::parse(line).at("status"), 429);
    }
    EXPECT_EQ(count, workers * lines);
}

TEST(access_log_writer, drops_and_counts_for_a_stalled_reader_but_never_blocks)
{
    pipe_pair pipe;  // nobody reads
    const std::string lines = std::string(1023, 'a') + "\n" + std::string(1023, 'b') + "\n";
    const std::size_t submissions = 2 * as_json.max_backlog_bytes / lines.size();
    auto writer = std::make_unique<access_log_writer>(output_to(pipe.writer()), as_json);
    for (std::size_t i = 0; i < submissions; ++i) {
        writer->submit(lines);  // would hang here if it ever blocked
    }
    const std::uint64_t pipe_lines = 1024;  // at most 1 MiB in the kernel
    EXPECT_GE(writer->dropped_lines(), submissions - pipe_lines);
    EXPECT_LE(writer->dropped_lines(), submissions);
    const auto before = base::now();
    writer.reset();
    const auto took = base::now() - before;
    EXPECT_GE(took, as_json.flush_timeout - std::chrono::milliseconds{200});
    EXPECT_LT(took, 3 * as_json.flush_timeout) << "stops once, not once per batch";
}

TEST(access_log_writer, recovers_when_the_reader_does)
{
    pipe_pair pipe;
    std::string text;
    std::thread reader;
    {
        access_log_writer writer(output_to(pipe.writer()), as_json);
        const std::string line = std::string(64 * 1024 - 1, 'x') + "\n";
        while (writer.dropped_lines() == 0) {
            writer.submit(line);
        }
        reader = std::thread([&] { text = pipe.read_to_end(); });
        const std::string last = "last\n";
        for (std::uint64_t dropped = 0; dropped != writer.dropped_lines();) {
            dropped = writer.dropped_lines();
            writer.submit(last);  // dropped until the reader has made room
        }
    }
    pipe.close_writer();
    reader.join();
    EXPECT_THAT(text, ::testing::EndsWith("x\nlast\n"));
}

TEST(access_log_writer, survives_a_reader_that_goes_away)
{
    pipe_pair pipe;
    pipe.close_reader();
    access_log_writer writer(output_to(pipe.writer()), as_json);
    writer.submit("one\ntwo\n");
    while (writer.dropped_lines() < 2) {
        std::this_thread::yield();
    }
    EXPECT_EQ(writer.dropped_lines(), 2u);
}

TEST(access_log_writer, writes_to_a_file)
{
    std::string name = "/tmp/access_log_test.XXXXXX";
    const int fd = ::mkstemp(name.data());
    ASSERT_GE(fd, 0);
    {
        access_log_writer writer(output_to(fd), as_json);
        writer.submit("one\n");
        writer.submit(std::string(100'000, 'x') + "\n");
    }
    ::close(fd);
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ::unlink(name.c_str());
    EXPECT_EQ(text, "one\n" + std::string(100'000, 'x') + "\n");
}

}  // namespace access_log_test
}  // namespace gateway::telemetry
