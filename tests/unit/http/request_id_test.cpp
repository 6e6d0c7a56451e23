#include "gateway/http/request_id.hpp"

#include "tests/unit/http/heads.hpp"

namespace gateway::http {
namespace request_id_test {

using testing::accepted_request;
using testing::post_with;

std::string told(const std::string& lines)
{
    const std::string text = post_with(lines);
    return std::string(vouched_request_id(accepted_request(text)));
}

TEST(request_id, told_is_the_only_field_of_that_name_in_any_case)
{
    EXPECT_EQ(told(""), "");
    EXPECT_EQ(told("X-Request: a\r\nX-Request-Ids: b\r\nX_Request_Id: c\r\n"), "");
    EXPECT_EQ(told("x-REQUEST-id: 0190-ab\r\n"), "0190-ab");
    EXPECT_EQ(told("X-Request-Id: a\r\nX-Request-Id: a\r\n"), "");
}

TEST(request_id, of_other_bytes_or_too_long_is_none)
{
    EXPECT_EQ(told("X-Request-Id: !\"\\~\r\n"), "!\"\\~");
    for (const char* bad : {"", "a b", "a\tb", "a\x80", "\xc3\xa9"}) {
        EXPECT_EQ(told("X-Request-Id: " + std::string(bad) + "\r\n"), "") << bad;
    }
    const std::string longest(request_id::max_bytes, 'x');
    EXPECT_EQ(told("X-Request-Id: " + longest + "\r\n"), longest);
    EXPECT_EQ(told("X-Request-Id: " + longest + "x\r\n"), "");
}

TEST(request_id, is_kept_as_it_is)
{
    request_id id;
    EXPECT_EQ(id.text(), "");
    for (const std::string& text : {std::string("a"), std::string(128, 'x'), std::string("b-2")}) {
        id.set(text);
        EXPECT_EQ(id.text(), text);
    }
}

}  // namespace request_id_test
}  // namespace gateway::http
