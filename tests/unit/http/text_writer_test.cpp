#include "gateway/http/output/text_writer.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gateway::http {
namespace text_writer_test {

TEST(text_writer, appends_pieces_and_gives_back_the_room_it_did_not_need)
{
    std::string out = "before ";
    {
        text_writer to(out, 100);
        to.add("literal ").add(std::string_view("text ")).add(std::string_view{}).add(0).add(" ");
        to.add(std::numeric_limits<std::int64_t>::min());
    }
    EXPECT_EQ(out, "before literal text 0 -9223372036854775808");
}

TEST(text_writer, may_fill_its_room_to_the_last_byte)
{
    std::string out;
    {
        text_writer to(out, 4 + text_writer::number);
        to.add("four").add(std::numeric_limits<std::int64_t>::min());
    }
    EXPECT_EQ(out, "four-9223372036854775808");
}

}  // namespace text_writer_test
}  // namespace gateway::http
