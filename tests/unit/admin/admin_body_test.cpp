#include "gateway/admin/admin_body.hpp"

#include <gmock/gmock.h>

namespace gateway::admin {
namespace admin_body_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

TEST(admin_body, gives_its_members)
{
    admin_body b(R"({"t":"x","n":7,"l":["a",""],"o":{"A":"1","B":["2","3"]}})");
    EXPECT_EQ(b.text("t"), "x");
    EXPECT_EQ(b.whole("n", 0, 7), 7);
    EXPECT_THAT(b.texts("l"), ElementsAre("a", ""));
    EXPECT_THAT(b.fields_if_any("o"), ElementsAre(Pair("A", "1"), Pair("B", "2"), Pair("B", "3")));
    EXPECT_EQ(b.text_if_any("absent"), std::nullopt);
    EXPECT_EQ(b.whole_or("absent too", 3, 0, 9), 3);
    EXPECT_THAT(b.fields_if_any("and this"), ElementsAre());
    EXPECT_EQ(b.complaint(), "");
}

TEST(admin_body, complains_of_what_is_no_object)
{
    for (const char* json : {"", " ", "{", "{}x", "{'a':1}", "{\"a\":\"\xff\"}"}) {
        EXPECT_THAT(admin_body(json).complaint(), StartsWith("the body is no JSON: ")) << json;
    }
    EXPECT_THAT(admin_body(std::string(40, '[')).complaint(), StartsWith("the body is no JSON: "));
    for (const char* json : {"[]", "1", "null", "\"x\""}) {
        EXPECT_THAT(admin_body(json).complaint(), HasSubstr("no JSON object")) << json;
    }
}

// Which of the two is meant nobody knows: a log or a filter in front may take the other one.
TEST(admin_body, complains_of_a_member_that_comes_twice)
{
    for (const char* json :
         {R"({"t":"x","t":"y"})",
          R"({"t":"x","t":"x"})",
          R"({"t":"x","\u0074":"y"})",
          R"({"t":"x","o":{"A":"1","A":"2"}})",
          R"({"t":"x","l":[{"a":1,"a":2}]})"}) {
        EXPECT_THAT(admin_body(json).complaint(), HasSubstr("a member comes twice")) << json;
    }
}

TEST(admin_body, complains_of_other_types_and_ranges_by_name)
{
    for (const char* number :
         {"0", "8", "-1", "1.0", "1e1", "\"1\"", "null", "true", "99999999999999999999"}) {
        admin_body b(std::string{"{\"n\":"} + number + "}");
        EXPECT_EQ(b.whole("n", 1, 7), 1);
        EXPECT_EQ(b.complaint(), "n: expected a whole number from 1 to 7") << number;
    }
    const auto complaint = [](const char* json, auto read) {
        admin_body b(json);
        read(b);
        return b.complaint();
    };
    EXPECT_EQ(complaint(R"({"t":1})", [](auto& b) { b.text("t"); }), "t: expected a text");
    EXPECT_EQ(complaint("{}", [](auto& b) { b.text("t"); }), "t: missing");
    EXPECT_EQ(complaint("{}", [](auto& b) { b.texts("l"); }), "l: missing");
    EXPECT_EQ(
        complaint(R"({"l":"x"})", [](auto& b) { b.texts("l"); }), "l: expected a list of texts"
    );
    EXPECT_EQ(complaint(R"({"l":[1]})", [](auto& b) { b.texts("l"); }), "l: expected a text");
    EXPECT_EQ(
        complaint(R"({"o":[]})", [](auto& b) { b.fields_if_any("o"); }),
        "o: expected an object with texts or lists of texts"
    );
    EXPECT_EQ(
        complaint(R"({"o":{"A":1}})", [](auto& b) { b.fields_if_any("o"); }), "o: expected a text"
    );
}

TEST(admin_body, complains_of_members_nobody_asked_for)
{
    admin_body b(R"({"limt":"x"})");
    b.text_if_any("limit");
    EXPECT_EQ(b.complaint(), "limt: unknown member, did you mean \"limit\"?");
    admin_body long_name("{\"" + std::string(10'000, 'x') + "\":1}");
    EXPECT_LT(long_name.complaint().size(), 100U);
}

TEST(admin_body, keeps_its_first_complaint)
{
    admin_body b(R"({"a":1,"b":2})");
    b.text("a");
    b.text("b");
    EXPECT_EQ(b.complaint(), "a: expected a text");
}

TEST(admin_body, times_have_bounds)
{
    using std::chrono::seconds;
    admin_body good(R"({"t":"1s"})");
    EXPECT_EQ(good.time("t", seconds{1}, seconds{60}), seconds{1});
    EXPECT_EQ(good.complaint(), "");
    for (const char* json : {R"({"t":"999ms"})", R"({"t":"61s"})", R"({"t":1})"}) {
        admin_body bad(json);
        bad.time("t", seconds{1}, seconds{60});
        EXPECT_THAT(bad.complaint(), testing::HasSubstr("at least 1s and at most 1m")) << json;
    }
}

}  // namespace admin_body_test
}  // namespace gateway::admin
