#include "gateway/http/via.hpp"

#include "tests/unit/http/heads.hpp"

namespace gateway::http {
namespace via_test {

using testing::accepted_request;
using testing::post_with;

TEST(via, the_name_is_a_token_of_its_process)
{
    EXPECT_EQ(make_via_name(0), "gateway-00000000");
    EXPECT_EQ(make_via_name(0xdeadbeef), "gateway-deadbeef");
}

TEST(via, passes_are_counted_wherever_they_are_listed)
{
    const auto passes = [](const char* lines) {
        const request_head head = accepted_request(post_with(lines));
        EXPECT_EQ(head.has_via, std::string_view(lines).find("ia:") != std::string_view::npos);
        return count_passes(head, "gateway-0000000a");
    };
    EXPECT_EQ(passes(""), 0U);
    EXPECT_EQ(passes("X-Other: 1.1 gateway-0000000a\r\n"), 0U);
    EXPECT_EQ(passes("Via: 1.1 gateway-0000000b, 1.1 gateway\r\n"), 0U);
    EXPECT_EQ(passes("Via: 1.1 gateway-0000000a\r\n"), 1U);
    EXPECT_EQ(passes("Connection: via\r\nvia:1.0 gateway-0000000a (why)\r\n"), 1U);
    EXPECT_EQ(
        passes("Via: 1.1 gateway-0000000a,1.1 x, HTTP/1.1 gateway-0000000a\r\nA: b\r\n"
               "VIA: 1.1 y,1.1 gateway-0000000a\r\n"),
        3U
    );
}

}  // namespace via_test
}  // namespace gateway::http
