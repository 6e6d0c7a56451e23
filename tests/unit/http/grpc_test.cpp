#include "gateway/http/grpc/grpc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::http {
namespace grpc_test {

using state = grpc_body::state;

std::string framed(std::string_view message)
{
    const auto prefix = grpc_prefix(static_cast<std::uint32_t>(message.size()));
    return std::string{prefix.data(), prefix.size()}.append(message);
}

TEST(grpc, has_a_flag_and_a_length_before_a_message)
{
    EXPECT_EQ(framed(""), std::string(5, '\0'));
    EXPECT_EQ(framed("abc"), std::string("\0\0\0\0\3abc", 8));
    const auto large = grpc_prefix(0x01020304);
    EXPECT_EQ(std::string(large.data(), large.size()), std::string("\0\1\2\3\4", 5));
}

TEST(grpc, has_one_message_in_a_body_at_any_split)
{
    const std::string body = framed("message");
    for (std::size_t size = 0; size <= body.size(); ++size) {
        const auto part = std::string_view{body}.substr(0, size);
        EXPECT_EQ(read_grpc_body(part, false, 100).is, state::incomplete) << size;
        const grpc_body ended = read_grpc_body(part, true, 100);
        if (size == body.size()) {
            EXPECT_EQ(ended.is, state::whole);
            EXPECT_EQ(ended.message, "message");
        } else {
            EXPECT_EQ(ended.is, state::refused) << size;
            EXPECT_EQ(ended.status, grpc_status::internal);
        }
    }
}

TEST(grpc, refuses_a_body_as_soon_as_it_can)
{
    const auto status_of = [](std::string_view body) {
        const grpc_body read = read_grpc_body(body, false, 7);
        return read.is == state::refused ? read.status : grpc_status::ok;
    };
    EXPECT_EQ(status_of(std::string_view("\1", 1)), grpc_status::unimplemented);
    EXPECT_EQ(status_of("\2"), grpc_status::internal);
    EXPECT_EQ(status_of("\xff"), grpc_status::internal);
    EXPECT_EQ(status_of(std::string_view("\0\0\0\0\7", 5)), grpc_status::ok);
    EXPECT_EQ(status_of(std::string_view("\0\0\0\0\x8", 5)), grpc_status::resource_exhausted);
    EXPECT_EQ(
        status_of(std::string_view("\0\xff\xff\xff\xff", 5)), grpc_status::resource_exhausted
    );
    EXPECT_EQ(status_of(framed("message") + '\0'), grpc_status::internal);
}

TEST(grpc, has_media_types)
{
    for (const char* type :
         {"application/grpc", "Application/gRPC+proto", "application/grpc; charset=utf-8"}) {
        EXPECT_TRUE(is_grpc_type(type)) << type;
        EXPECT_TRUE(is_protobuf_grpc_type(type)) << type;
    }
    EXPECT_TRUE(is_grpc_type("application/grpc+json"));
    EXPECT_TRUE(is_grpc_type("application/grpc+thrift;v=1"));
    EXPECT_FALSE(is_protobuf_grpc_type("application/grpc+json"));
    for (const char* type :
         {"",
          "application/grpc-web",
          "application/grpc-web+proto",
          "application/grpc-web-text",
          "application/grpcx",
          "application/json",
          "text/plain; application/grpc"}) {
        EXPECT_FALSE(is_grpc_type(type)) << type;
        EXPECT_FALSE(is_protobuf_grpc_type(type)) << type;
    }
}

}  // namespace grpc_test
}  // namespace gateway::http
