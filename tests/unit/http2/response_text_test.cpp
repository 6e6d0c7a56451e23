#include "gateway/http2/response_text.hpp"

#include <gtest/gtest.h>

namespace gateway::http2 {
namespace response_text_test {

struct sample {
    std::string_view status;
    std::string_view length;
    bool last;
    bool to_head;
    std::string_view expected;
    bool chunked;
};

constexpr std::string_view chunks = "transfer-encoding: chunked\r\n";

TEST(response_text, says_how_long_the_content_is)
{
    for (const sample& s : {
             sample{"200", "", false, false, chunks, true},
             sample{"200", "", true, false, "content-length: 0\r\n", false},
             sample{"200", "", true, true, "", false},
             sample{"200", "5", false, false, chunks, true},
             sample{"200", "5", true, true, "content-length: 5\r\n", false},
             sample{"204", "", true, false, "", false},
             sample{"204", "", false, false, "", false},
             sample{"304", "", true, false, "", false},
             sample{"304", "7", true, false, "content-length: 7\r\n", false},
             sample{"103", "", false, false, "", false},
             sample{"404", "", false, false, chunks, true},
             sample{"599", "", false, false, chunks, true},
         }) {
        response_text text;
        text.add(":status", s.status);
        if (!s.length.empty()) {
            text.add("content-length", s.length);
        }
        std::string out;
        text.finish(s.last, s.to_head, out);
        const std::string line = out.substr(0, out.find("\r\n"));
        EXPECT_TRUE(line.starts_with("HTTP/1.1 " + std::string(s.status) + " ")) << line;
        EXPECT_EQ(out.substr(line.size() + 2), std::string(s.expected) + "\r\n") << s.status;
        EXPECT_EQ(text.is_chunked(), s.chunked) << s.status;
        EXPECT_EQ(
            text.announced_length(),
            s.chunked && !s.length.empty() ? std::optional<std::uint64_t>{5} : std::nullopt
        );
        EXPECT_EQ(text.is_interim(), s.status.starts_with('1'));
    }
}

TEST(response_text, keeps_the_order_of_fields_and_nothing_of_the_head_before)
{
    response_text text;
    std::string out;
    text.add(":status", "200");
    text.add("content-length", "3");
    text.add("x-old", "1");
    text.finish(false, false, out);
    text.clear();
    out.clear();
    text.add(":status", "204");
    text.add("set-cookie", "a=1");
    text.add("x-b", "");
    text.add("set-cookie", "b=2");
    text.finish(true, false, out);
    EXPECT_EQ(
        out, "HTTP/1.1 204 No Content\r\nset-cookie: a=1\r\nx-b: \r\nset-cookie: b=2\r\n\r\n"
    );
    EXPECT_EQ(text.lines(), "set-cookie: a=1\r\nx-b: \r\nset-cookie: b=2\r\n");
}

}  // namespace response_text_test
}  // namespace gateway::http2
