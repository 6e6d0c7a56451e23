#include "gateway/admin/json_text.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace gateway::admin {
namespace json_text_test {

TEST(json_text, has_no_exponents)
{
    for (const auto& [number, text] : std::vector<std::pair<double, std::string>>{
             {0, "0.0"},
             {-0.5, "-0.5"},
             {0.000001, "0.000001"},
             {7200, "7200.0"},
             {1795700000, "1795700000.0"},
             {1795700000.125, "1795700000.125"},
             {1e19, "10000000000000000000.0"}}) {
        EXPECT_EQ(json_text(number), text);
    }
    EXPECT_EQ(json_text(1e300).size(), 303U);
}

TEST(json_text, says_what_boost_does)
{
    const boost::json::value v = boost::json::parse(
        R"({"a":[],"b":{},"c":[1,-2,18446744073709551615,null,true,false,"x\"\\\n\u00e4"],)"
        R"("d\"":{"e":[[1.5,{"f":0.25}]]}})"
    );
    EXPECT_EQ(boost::json::parse(json_text(v)), v);
    EXPECT_EQ(json_text(boost::json::parse(R"({"a":[1,{"b":1.5}]})")), R"({"a":[1,{"b":1.5}]})");
}

}  // namespace json_text_test
}  // namespace gateway::admin
