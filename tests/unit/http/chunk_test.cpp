#include "gateway/http/chunk.hpp"

#include "gateway/http/input/body_reader.hpp"

#include <gtest/gtest.h>

namespace gateway::http {
namespace chunk_test {

std::string framed(std::string_view content, bool last, std::string_view trailers = {})
{
    const chunk c(content, last, trailers);
    return std::string(c.before()).append(content).append(c.after());
}

TEST(chunk, frames_content_and_its_end)
{
    EXPECT_EQ(framed("abc", false), "3\r\nabc\r\n");
    EXPECT_EQ(framed("abc", true), "3\r\nabc\r\n0\r\n\r\n");
    EXPECT_EQ(framed("", true), "0\r\n\r\n");
    EXPECT_EQ(framed("", true, "a: 1\r\n"), "0\r\na: 1\r\n\r\n");
    EXPECT_EQ(framed(std::string(0x1fff, 'x'), false).substr(0, 6), "1fff\r\n");
}

TEST(chunk, is_read_back_by_the_reader_of_bodies)
{
    for (const std::size_t size : {1U, 9U, 15U, 16U, 255U, 4096U, 100'000U}) {
        const std::string content(size, 'x');
        std::string text = framed(content, true, "a: 1\r\n");
        body_reader reader({framing::kind::chunked, 0});
        const auto piece = reader.read(text);
        EXPECT_EQ(piece.content, content);
        EXPECT_EQ(piece.trailers, "a: 1\r\n");
        EXPECT_TRUE(reader.done());
    }
}

}  // namespace chunk_test
}  // namespace gateway::http
