#include "gateway/http/grpc/grpc_status.hpp"

#include "gateway/http/grpc/grpc_response.hpp"
#include "gateway/http/grpc/grpc_timeout.hpp"
#include "tests/unit/http/heads.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gateway::http {
namespace grpc_status_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The codes that gRPC defines, by number.
TEST(grpc_status, has_the_names_of_grpc_by_number)
{
    const std::map<int, grpc_status> numbers{
        {0, grpc_status::ok},
        {1, grpc_status::cancelled},
        {2, grpc_status::unknown},
        {3, grpc_status::invalid_argument},
        {4, grpc_status::deadline_exceeded},
        {5, grpc_status::not_found},
        {6, grpc_status::already_exists},
        {7, grpc_status::permission_denied},
        {8, grpc_status::resource_exhausted},
        {9, grpc_status::failed_precondition},
        {10, grpc_status::aborted},
        {11, grpc_status::out_of_range},
        {12, grpc_status::unimplemented},
        {13, grpc_status::internal},
        {14, grpc_status::unavailable},
        {15, grpc_status::data_loss},
        {16, grpc_status::unauthenticated},
    };
    ASSERT_EQ(numbers.size(), grpc_status_names.size());
    for (const auto& [number, status] : numbers) {
        EXPECT_EQ(number_of(status), static_cast<std::size_t>(number));
        EXPECT_EQ(read_grpc_status(std::to_string(number)), status);
    }
    EXPECT_EQ(grpc_status_names[8], "RESOURCE_EXHAUSTED");
    EXPECT_EQ(grpc_status_names[16], "UNAUTHENTICATED");
}

TEST(grpc_status, reads_what_a_server_may_send)
{
    EXPECT_EQ(read_grpc_status("17"), grpc_status::other);
    EXPECT_EQ(read_grpc_status("999999999"), grpc_status::other);
    EXPECT_EQ(read_grpc_status("08"), grpc_status::resource_exhausted);
    for (const char* none : {"", "x", "-1", "1 ", "8,8", "OK", "99999999999999999999"}) {
        EXPECT_EQ(read_grpc_status(none), grpc_status::unknown) << none;
    }
}

// Every status that the gateway can answer with, and every other one that a `rejection` may have.
TEST(grpc_status, every_status_from_400_to_599_has_a_code)
{
    const std::map<int, int> codes{
        {401, 16},
        {403, 7},
        {404, 12},
        {405, 12},
        {408, 4},
        {413, 8},
        {414, 8},
        {429, 8},
        {431, 8},
        {501, 12},
        {502, 14},
        {503, 14},
        {505, 12},
    };
    for (int status = 400; status <= 599; ++status) {
        for (const bool timed_out : {false, true}) {
            const auto known = codes.find(status);
            const int otherwise = status < 500 ? 3 : 13;
            int expected = known != codes.end() ? known->second : otherwise;
            if (status == 504) {
                expected = timed_out ? 4 : 14;
            }
            EXPECT_EQ(number_of(own_grpc_status(status, timed_out)), expected) << status;
        }
    }
}

TEST(grpc_status, is_what_clients_make_of_a_response_without)
{
    const std::map<int, int> codes{
        {400, 13}, {401, 16}, {403, 7}, {404, 12}, {429, 14}, {502, 14}, {503, 14}, {504, 14}};
    for (int status = 100; status <= 599; ++status) {
        const auto known = codes.find(status);
        EXPECT_EQ(number_of(implied_grpc_status(status)), known != codes.end() ? known->second : 2)
            << status;
    }
}

TEST(grpc_status, has_a_message_that_is_percent_encoded)
{
    EXPECT_EQ(grpc_message(""), "");
    EXPECT_EQ(grpc_message("retry later; a \"b\" ~"), "retry later; a \"b\" ~");
    EXPECT_EQ(grpc_message("100 % \r\n\x7f"), "100 %25 %0D%0A%7F");
    EXPECT_EQ(grpc_message("\xc3\xa4"), "%C3%A4");
}

TEST(grpc_response, has_its_outcome_in_the_trailers_or_the_head_or_implies_it)
{
    const auto outcome = [](std::string_view head, std::string_view trailers) {
        grpc_response r;
        EXPECT_EQ(r.status(), 0);
        r.read(testing::accepted_response(std::string("HTTP/1.1 ").append(head).append("\r\n\r\n"))
        );
        EXPECT_NE(r.status(), 0);
        return number_of(r.ended(trailers));
    };
    EXPECT_EQ(outcome("200 OK", "grpc-status: 0\r\n"), 0U);
    EXPECT_EQ(outcome("200 OK", "X: 1\r\nGrpc-Status:16\r\ngrpc-message: no\r\n"), 16U);
    EXPECT_EQ(outcome("200 OK\r\ngrpc-status: 7", ""), 7U);
    EXPECT_EQ(outcome("200 OK\r\ngrpc-status: 0", "grpc-status: 13\r\n"), 13U) << "as clients do";
    EXPECT_EQ(outcome("200 OK", ""), 2U);
    EXPECT_EQ(outcome("200 OK", "grpc-status: many\r\n"), 2U);
    EXPECT_EQ(outcome("200 OK", "grpc-status: 4711\r\n"), number_of(grpc_status::other));
    EXPECT_EQ(outcome("401 No", ""), 16U);
    EXPECT_EQ(outcome("503 No", "X: 1\r\n"), 14U);
    EXPECT_EQ(outcome("503 No\r\ngrpc-status: 8", ""), 8U);
}

TEST(grpc_response, forgets_the_head_before)
{
    grpc_response r;
    r.read(testing::accepted_response("HTTP/1.1 200 OK\r\ngrpc-status: 7\r\n\r\n"));
    r.read(testing::accepted_response("HTTP/1.1 200 OK\r\n\r\n"));
    EXPECT_EQ(r.ended(""), grpc_status::unknown);
}

TEST(grpc_timeout, has_a_number_and_a_unit)
{
    EXPECT_EQ(read_grpc_timeout("2H"), std::chrono::hours{2});
    EXPECT_EQ(read_grpc_timeout("3M"), std::chrono::minutes{3});
    EXPECT_EQ(read_grpc_timeout("1S"), seconds{1});
    EXPECT_EQ(read_grpc_timeout("250m"), milliseconds{250});
    EXPECT_EQ(read_grpc_timeout("7u"), std::chrono::microseconds{7});
    EXPECT_EQ(read_grpc_timeout("9n"), std::chrono::nanoseconds{9});
    EXPECT_EQ(read_grpc_timeout("00000001S"), seconds{1});
    EXPECT_EQ(read_grpc_timeout("99999999m"), milliseconds{99'999'999});
    EXPECT_EQ(read_grpc_timeout("99999999S"), longest_grpc_timeout);
    EXPECT_EQ(read_grpc_timeout("99999999H"), longest_grpc_timeout);
}

TEST(grpc_timeout, is_none_if_it_is_malformed)
{
    for (const char* text :
         {"",
          "S",
          "1",
          "1s",
          "1 S",
          " 1S",
          "1S ",
          "-1S",
          "+1S",
          "1.5S",
          "1SS",
          "1e3m",
          "0S",
          "00000000n",
          "100000000S",
          "1000000000S",
          "1S,2S",
          "1h",
          "1U"}) {
        EXPECT_FALSE(read_grpc_timeout(text)) << text;
    }
}

}  // namespace grpc_status_test
}  // namespace gateway::http
