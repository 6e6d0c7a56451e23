#include "gateway/http/media_type.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gateway::http {
namespace media_type_test {

media_type type_of(std::string_view value)
{
    const std::array fields{field{.name = "Content-Type", .value = value}};
    return read_media_type(fields);
}

TEST(media_type, is_json_by_its_name_or_its_ending)
{
    for (const char* type :
         {"application/json", "Application/JSON ; charset=\"UTF-8\"", "application/problem+json"}) {
        EXPECT_EQ(type_of(type), media_type::json) << type;
    }
    for (const char* type :
         {"", "text/json", "application/json; charset=latin1", "application/jsonp", "+json"}) {
        EXPECT_EQ(type_of(type), media_type::other) << type;
    }
}

TEST(media_type, is_no_json_if_messages_of_grpc_carry_it)
{
    for (const char* type : {"application/grpc+json", "Application/GRPC-Web+json"}) {
        EXPECT_EQ(type_of(type), media_type::other) << type;
    }
}

}  // namespace media_type_test
}  // namespace gateway::http
