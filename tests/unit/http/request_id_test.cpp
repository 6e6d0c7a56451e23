#include "gateway/http/request_id.hpp"

#include "tests/unit/http/heads.hpp"

namespace gateway::http {
namespace {

using testing::accepted_request;
using testing::post_with;

std::string id_of(const std::string& lines)
{
    const std::string text = post_with(lines);
    return std::string(request_id(accepted_request(text)));
}

TEST(request_id, is_the_first_field_of_that_name_in_any_case)
{
    EXPECT_EQ(id_of(""), "");
    EXPECT_EQ(id_of("X-Request: a\r\nX-Request-Ids: b\r\n"), "");
    EXPECT_EQ(id_of("x-REQUEST-id: 0190-ab\r\nX-Request-Id: second\r\n"), "0190-ab");
}

TEST(request_id, of_other_bytes_or_too_long_is_none)
{
    EXPECT_EQ(id_of("X-Request-Id: !\"\\~\r\n"), "!\"\\~");
    for (const char* bad : {"", "a b", "a\tb", "a\x80", "\xc3\xa9"}) {
        EXPECT_EQ(id_of("X-Request-Id: " + std::string(bad) + "\r\n"), "") << bad;
    }
    const std::string longest(max_request_id_bytes, 'x');
    EXPECT_EQ(id_of("X-Request-Id: " + longest + "\r\n"), longest);
    EXPECT_EQ(id_of("X-Request-Id: " + longest + "x\r\n"), "");
}

}  // namespace
}  // namespace gateway::http
