#include "gateway/content/request_values.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace gateway::content {
namespace request_values_test {

using presence = request_values::presence;

class values : public ::testing::Test {
protected:
    json_paths paths = [] {
        json_paths all;
        all.add("model");
        all.add("params.name");
        return all;
    }();

    std::unique_ptr<request_values> read(const std::string& text, bool is_whole = true)
    {
        auto read = std::make_unique<request_values>(paths);
        read->read(text);
        if (is_whole) {
            read->finish();
        }
        return read;
    }
};

TEST_F(values, are_those_of_an_object)
{
    const auto v = read(R"({"model":"m","params":{"name":7}})");
    EXPECT_EQ(v->state(), content_state::whole);
    EXPECT_EQ(v->text(0), "m");
    EXPECT_TRUE(v->is_text(0));
    EXPECT_EQ(v->text(1), "7");
    EXPECT_FALSE(v->is_text(1));
    EXPECT_FALSE(v->lacks_any(3));
}

TEST_F(values, of_other_texts_are_none)
{
    for (const char* text : {"[]", "7", "\"model\"", "null", "{", "x"}) {
        EXPECT_EQ(read(text)->state(), content_state::unreadable) << text;
    }
}

TEST_F(values, of_no_content_are_none_whatever_its_type)
{
    EXPECT_EQ(read("")->state(), content_state::none);
    request_values other{paths, false};
    other.finish();
    EXPECT_EQ(other.state(), content_state::none);
    request_values more{paths, false};
    more.read("{}");
    EXPECT_EQ(more.state(), content_state::unreadable);
}

TEST_F(values, that_parsers_may_round_are_ambiguous)
{
    const auto v = read(R"({"model":7.00000000000000000001)", false);
    EXPECT_TRUE(v->stays_sound("}", true, 1)) << "a larger part of the content does not change it";
    EXPECT_EQ(v->at(0), presence::ambiguous);
}

TEST_F(values, come_back_as_the_id_of_a_call)
{
    for (const char* id : {"7", "-7", "\"a\\\"b\"", "9007199254740993", "18446744073709551615"}) {
        EXPECT_EQ(read(std::string{"{\"model\":"} + id + "}")->as_rpc_id(0), id);
    }
    for (const char* text :
         {"{}",
          "{\"model\":true}",
          "{\"model\":null}",
          "{\"model\":{}}",
          "{\"model\":1,\"model\":1}",
          "{\"model\":1"}) {
        EXPECT_EQ(read(text)->as_rpc_id(0), "null") << text;
    }
}

TEST_F(values, that_are_no_scalars_are_absent)
{
    const auto v = read(R"({"model":null,"params":{"name":{}}})");
    EXPECT_EQ(v->at(0), presence::absent);
    EXPECT_EQ(v->at(1), presence::other);
    EXPECT_TRUE(v->lacks_any(1));
    EXPECT_FALSE(v->lacks_any(2));
}

TEST_F(values, that_occur_twice_are_ambiguous)
{
    const auto v = read(R"({"params":{"name":"a"},"model":"m","params":{"name":"b"}})");
    EXPECT_EQ(v->at(1), presence::ambiguous);
    EXPECT_EQ(v->at(0), presence::present);
}

TEST_F(values, of_a_beginning_are_there_already)
{
    const auto v = read(R"({"model":"m","params":{"na)", false);
    EXPECT_EQ(v->state(), content_state::begun);
    EXPECT_EQ(v->text(0), "m");
    v->read("me\":\"n\"}");
    EXPECT_EQ(v->text(0), "m");
    EXPECT_EQ(v->text(1), "n");
    v->read("]");
    EXPECT_EQ(v->state(), content_state::unreadable);
}

// Paths are those of `model` (bit 0) and `params.name` (bit 1).
TEST_F(values, stay_sound_until_they_are_ambiguous_or_unreadable)
{
    const std::string begin = R"({"model":"m","x":1)";
    EXPECT_TRUE(read(begin, false)->stays_sound(R"(,"y":2})", true, 3));
    EXPECT_FALSE(read(begin, false)->stays_sound(R"(,"model":2})", true, 3));
    EXPECT_TRUE(read(begin, false)->stays_sound(R"(,"model":2})", true, 2)) << "no path counts";
    EXPECT_FALSE(read(begin, false)->stays_sound(",}", true, 3));
    EXPECT_FALSE(read(begin, false)->stays_sound(",", true, 3)) << "it has no end";
    EXPECT_TRUE(read("}", false)->stays_sound("}", true, 3)) << "it was unreadable before";
    const std::string no_scalars = R"({"model":[1],"params":{"name":{}})";
    EXPECT_TRUE(read(no_scalars, false)->stays_sound("}", true, 3));
}

TEST_F(values, that_were_ambiguous_before_excuse_no_other)
{
    const std::string begin = R"({"model":1,"model":2,"params":{"name":"a"})";
    EXPECT_TRUE(read(begin, false)->stays_sound(R"(,"model":3})", true, 3));
    EXPECT_FALSE(read(begin, false)->stays_sound(R"(,"params":{"name":"b"}})", true, 3));
    EXPECT_FALSE(read(begin, false)->stays_sound(",}", true, 3));
}

}  // namespace request_values_test
}  // namespace gateway::content
