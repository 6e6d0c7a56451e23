#include "gateway/replay/logs/json_cursor.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gateway::replay {
namespace json_cursor_test {

// Names and values of all members, or nothing if the text is no object.
std::optional<std::string> members_of(std::string text)
{
    std::string seen;
    json_cursor members{text};
    for (json_member m; members.next(m);) {
        seen.append(m.name).append("=").append(m.value.view()).append(";");
    }
    return members.is_complete() ? std::optional{seen} : std::nullopt;
}

TEST(json_cursor, returns_members_as_they_stand)
{
    EXPECT_EQ(members_of(R"({})"), "");
    EXPECT_EQ(members_of(R"( { "a" : "x" , "b":-1.5e3,"c":null } )"), "a=x;b=-1.5e3;c=null;");
    EXPECT_EQ(members_of(R"({"o":{"p":"}"},"l":[1,"]"]})"), R"(o={"p":"}"};l=[1,"]"];)");
}

TEST(json_cursor, replaces_escapes)
{
    EXPECT_EQ(members_of(R"({"a":"\"\\\/\b\f\n\r\t"})"), "a=\"\\/\b\f\n\r\t;");
    EXPECT_EQ(members_of(R"({"a":"\u0041\u00e4\u20ac\ud83d\ude00"})"), "a=Aä€😀;");
    EXPECT_EQ(members_of(R"({"\u0061":1})"), "a=1;");
}

TEST(json_cursor, refuses_what_is_no_object)
{
    for (const char* text :
         {"",
          "x",
          "[]",
          "{",
          "{\"a\"}",
          "{\"a\":}",
          "{\"a\":1",
          "{\"a\":1,}",
          "{\"a\":1 \"b\":2}",
          "{\"a\":\"x}",
          "{\"a\":\"\\x\"}",
          "{\"a\":\"\\u12\"}",
          "{} {}",
          "{\"a\":{}",
          "{\"a\":\"\\"}) {
        EXPECT_EQ(members_of(text), std::nullopt) << text;
    }
}

TEST(json_cursor, finds_an_expected_member_by_its_lead)
{
    std::string first = R"({ "a\u0062":1 , "c": "x"})";
    json_cursor learned{first};
    json_member m;
    ASSERT_TRUE(learned.next(m));
    EXPECT_EQ(m.lead, "") << "the name had an escape";
    ASSERT_TRUE(learned.next(m));
    EXPECT_EQ(m.lead, R"( , "c": )");
    const std::string lead{m.lead};
    for (const auto& [text, is_expected] :
         {std::pair{R"({"a":1 , "c": "y"})", true},
          {R"({"a":1, "c": "y"})", false},
          {R"({"a":1 , "d": "y"})", false}}) {
        std::string line = text;
        json_cursor members{line};
        ASSERT_TRUE(members.next(m, lead)) << "the first one is another";
        EXPECT_FALSE(m.expected);
        ASSERT_TRUE(members.next(m, lead)) << text;
        EXPECT_EQ(m.expected, is_expected) << text;
        EXPECT_EQ(m.value.view(), "y");
        EXPECT_FALSE(members.next(m, lead));
        EXPECT_TRUE(members.is_complete());
    }
    std::string cut = R"({"a":1 , "c": )";
    json_cursor members{cut};
    ASSERT_TRUE(members.next(m, lead));
    EXPECT_FALSE(members.next(m, lead)) << "no value follows";
}

TEST(json_cursor, reads_what_boost_json_writes)
{
    std::mt19937 random{36};
    for (int round = 0; round < 2000; ++round) {
        boost::json::object object;
        std::string expected;
        for (auto i = random() % 5; i > 0; --i) {
            std::string value;
            for (auto n = random() % 12; n > 0; --n) {
                value += static_cast<char>(random() % 128);
            }
            const std::string name = "n" + std::to_string(i);
            object[name] = value;
            expected += name + "=" + value + ";";
        }
        EXPECT_EQ(members_of(boost::json::serialize(object)), expected);
    }
}

TEST(json_elements, are_those_of_the_array)
{
    std::string text = R"([ "a\n", 2,[3] ])";
    json_elements elements{text};
    std::string seen;
    for (json_value v; elements.next(v);) {
        seen.append(v.view()).append(";");
    }
    EXPECT_EQ(seen, "a\n;2;[3];");
}

}  // namespace json_cursor_test
}  // namespace gateway::replay
