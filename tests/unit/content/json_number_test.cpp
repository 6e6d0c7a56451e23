#include "gateway/content/json_number.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::content {
namespace json_number_test {

TEST(whole_number, is_one_for_all_spellings)
{
    for (const char* one :
         {"1", "1.0", "1.000", "1e0", "1E+0", "1e-0", "10e-1", "0.1e1", "100e-2"}) {
        EXPECT_EQ(whole_number(one), 1) << one;
    }
    for (const char* zero :
         {"0", "-0", "0.0", "-0.0", "0e9", "0e-999999999999999999999", "0.00e5"}) {
        EXPECT_EQ(whole_number(zero), 0) << zero;
    }
    EXPECT_EQ(whole_number("-12.50e2"), -1250);
    EXPECT_EQ(whole_number("1" + std::string(1000, '0') + "e-1000"), 1);
}

TEST(whole_number, is_none_of_fractions)
{
    for (const char* text : {"1.5", "1e-1", "-0.1", "0.0001", "1.0000000000000000001", "1e-400"}) {
        EXPECT_FALSE(whole_number(text)) << text;
    }
}

TEST(whole_number, is_one_that_doubles_hold)
{
    EXPECT_EQ(whole_number("9007199254740991"), largest_integer);
    EXPECT_EQ(whole_number("-9007199254740991"), -largest_integer);
    EXPECT_EQ(whole_number("9007199254740991.000e0"), largest_integer);
    for (const std::string& text :
         {std::string{"9007199254740992"},
          std::string{"9223372036854775808"},
          std::string{"1e16"},
          std::string{"1e400"},
          std::string{"1e99999999999999999999"},
          std::string(1000, '9')}) {
        EXPECT_EQ(whole_number(text), largest_integer + 1) << text;
        EXPECT_EQ(whole_number("-" + text), -largest_integer - 1) << text;
    }
}

}  // namespace json_number_test
}  // namespace gateway::content
