#include "gateway/http/parameter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace gateway::http {
namespace parameter_test {

using namespace std::string_view_literals;

// With "?" behind it if servers differ about it.
std::string decoded(std::string_view text)
{
    std::string out = "left over";
    const bool good = decode_parameter(text, out);
    return good ? out : out + "?";
}

TEST(parameter, is_decoded_once_and_plus_is_a_space)
{
    EXPECT_EQ(decoded(""), "");
    EXPECT_EQ(decoded("a%62%2Fc%C3%A9"), "ab/c\xc3\xa9");
    EXPECT_EQ(decoded("%2561"), "%61");
    EXPECT_EQ(decoded("a+b%20c%2bd e"), "a b c d e");
}

TEST(parameter, that_decoders_differ_about_is_told)
{
    EXPECT_EQ(decoded("a%"), "a%?");
    EXPECT_EQ(decoded("a%6"), "a%6?");
    EXPECT_EQ(decoded("%zzb"), "%zzb?");
    EXPECT_EQ(decoded("%u0041b%U0042"), "AbB?");
    EXPECT_EQ(decoded("%u20ac"), "\xff?");
    EXPECT_EQ(decoded("%u00"), "%u00?");
    EXPECT_EQ(decoded("a%00b"), "a\0b?"sv);
    EXPECT_EQ(decoded("a%0a"), "a\n?");
    EXPECT_EQ(decoded("%7F"), "\x7f?");
}

TEST(parameter, names_that_some_server_reads_as_the_key)
{
    for (const std::string_view name :
         {"api_key"sv,
          "API_Key"sv,
          "api.key"sv,
          "api key"sv,
          "api[key"sv,
          "api-key"sv,
          " api_key"sv,
          "  api_key "sv,
          "?api_key"sv,
          ".api_key"sv,
          "[api_key]"sv,
          "api_key[]"sv,
          "api_key[a][b"sv,
          "api_key]"sv,
          "api_key\0x"sv,
          "api_key\n"sv,
          "\xc2\xa0"
          "api_key\xe3\x80\x80"sv}) {
        EXPECT_TRUE(may_be_read_as(name, "api_key")) << name;
    }
    for (const std::string_view name :
         {""sv,
          "api"sv,
          "apikey"sv,
          "api_keys"sv,
          "api_key_"sv,
          "_api_key"sv,
          "x[api_key]"sv,
          "api__key"sv}) {
        EXPECT_FALSE(may_be_read_as(name, "api_key")) << name;
    }
}

TEST(parameter, an_element_is_told_from_its_neighbours)
{
    for (const char* name :
         {"user[id]", "user[ id]", "user[  ID]x", "user[id", "user[id][]", "user_id", "user.id"}) {
        EXPECT_TRUE(may_be_read_as(name, "user[id]")) << name;
    }
    for (const char* name : {"user", "user[]", "user[name]", "user[ids]", "id", "user[i d]"}) {
        EXPECT_FALSE(may_be_read_as(name, "user[id]")) << name;
    }
}

}  // namespace parameter_test
}  // namespace gateway::http
