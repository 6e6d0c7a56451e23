#include "gateway/http/input/connection_options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace connection_options_test {

using namespace gateway::http;

constexpr http_version http_1_0 = http_version::http_1_0;
constexpr http_version http_1_1 = http_version::http_1_1;

field connection_field(std::string_view value)
{
    return {.id = field_name::connection, .name = "Connection", .value = value};
}

// Returns the names of the marked fields.
std::vector<std::string_view> nominated(const field_list& fields)
{
    std::vector<std::string_view> names;
    for (const field& f : fields) {
        if (f.nominated) {
            names.push_back(f.name);
        }
    }
    return names;
}

TEST(connection_options, the_version_and_the_options_decide_if_the_connection_is_kept)
{
    connection_options none;
    EXPECT_TRUE(none.read(""));
    EXPECT_TRUE(none.keeps_alive(http_1_1));
    EXPECT_FALSE(none.keeps_alive(http_1_0));

    connection_options kept;
    EXPECT_TRUE(kept.read("x-a , keep-ALIVE"));
    EXPECT_TRUE(kept.keeps_alive(http_1_1));
    EXPECT_TRUE(kept.keeps_alive(http_1_0));

    EXPECT_TRUE(kept.read(" , Close ,\tX-A,, , x-b"));
    EXPECT_FALSE(kept.keeps_alive(http_1_1));
    EXPECT_FALSE(kept.keeps_alive(http_1_0));
}

TEST(connection_options, only_names_that_a_trailer_could_have_nominate_trailers)
{
    const auto nominates = [](std::string_view value) {
        connection_options options;
        EXPECT_TRUE(options.read(value));
        return options.nominates_trailers();
    };
    for (const char* const value :
         {"", "close", "keep-alive", "TE", "te, Upgrade", "HTTP2-Settings", "Host, If-Match"}) {
        EXPECT_FALSE(nominates(value)) << value;
    }
    for (const char* const value : {"x-a", "TE, x-a", "x-a, close"}) {
        EXPECT_TRUE(nominates(value)) << value;
    }
}

TEST(connection_options, nominated_fields_are_marked_in_any_spacing_and_case)
{
    field_list fields{
        {.name = "X-A"},
        connection_field(" , Close ,\tx-a,,keep-ALIVE , X-b"),
        {.name = "x-B"},
        {.name = "x-"},
        {.name = "x-c"},
        {.name = "Close"},
        {.name = "Keep-Alive"},
        connection_field("x-c"),
        {.name = "x-a"},
        {.name = "x-d"},
    };
    connection_options c;
    ASSERT_TRUE(c.read(fields[1].value));
    ASSERT_TRUE(c.read(fields[7].value));
    c.mark_nominated(fields);
    EXPECT_EQ(nominated(fields), (std::vector<std::string_view>{"X-A", "x-B", "x-c", "x-a"}));
}

TEST(connection_options, a_message_that_nominates_nothing_marks_nothing)
{
    field_list fields{{.name = "Close"}, connection_field("close, keep-alive,"), {.name = ""}};
    connection_options c;
    ASSERT_TRUE(c.read(fields[1].value));
    c.mark_nominated(fields);
    EXPECT_TRUE(nominated(fields).empty());
}

TEST(connection_options, what_is_no_token_is_refused_and_closes_nothing)
{
    for (const char* value :
         {"x y", "close keep-alive", "\"close\"", "a;b", "x\x80", "a/b", "close=1;2"}) {
        connection_options c;
        EXPECT_FALSE(c.read(value)) << value;
        EXPECT_TRUE(c.keeps_alive(http_1_1)) << value;
    }
}

TEST(connection_options, at_most_so_many_fields_are_nominated)
{
    connection_options c;
    for (std::size_t i = 0; i < connection_options::max_nominated; ++i) {
        EXPECT_TRUE(c.read("close, a"));
    }
    EXPECT_TRUE(c.read("close"));
    EXPECT_FALSE(c.read("a"));
}

}  // namespace connection_options_test
