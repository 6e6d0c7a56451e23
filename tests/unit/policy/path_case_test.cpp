#include "gateway/policy/paths/path_case.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gateway::policy {
namespace path_case_test {

TEST(path_case, letters_of_ascii_are_small)
{
    EXPECT_EQ(folded_case(""), "");
    EXPECT_EQ(folded_case("/Api/LOGIN/"), "/api/login/");
    EXPECT_EQ(folded_case("/@AZ[`az{09-_.~%2F"), "/@az[`az{09-_.~%2f");
}

// Python's re.IGNORECASE and casefold(), JavaScript's toUpperCase() and toLowerCase() agree.
TEST(path_case, characters_whose_other_case_is_ascii_are_small_letters)
{
    EXPECT_EQ(folded_case("/admi\xc5\xbft\xc4\xb1\xc4\xb0"), "/admistii");
    EXPECT_EQ(
        folded_case("/to\xe2\x84\xaa"
                    "en"),
        "/token"
    );
    EXPECT_EQ(folded_case("/pa\xc3\x9fword/pa\xe1\xba\x9eword"), "/password/password");
    EXPECT_EQ(
        folded_case(
            "/\xef\xac\x80\xef\xac\x81\xef\xac\x82\xef\xac\x83\xef\xac\x84\xef\xac\x85\xef\xac\x86"
        ),
        "/fffiflffifflstst"
    );
}

TEST(path_case, all_other_bytes_stay)
{
    for (const char* path :
         {"/\xc3\x84\xc3\xa4", "/\xe2\x84\xab", "/\xc5\x92", "/\xff\xc3", "/\xef\xac\x87"}) {
        EXPECT_EQ(folded_case(path), path);
    }
}

TEST(path_case, a_room_that_is_too_small_holds_the_beginning)
{
    std::array<char, 4> room;
    EXPECT_EQ(fold_case("/ABCDE", room), "/abc");
    EXPECT_EQ(fold_case("/AB\xef\xac\x83", room), "/abf");
    EXPECT_EQ(fold_case("/A", room), "/a");
}

}  // namespace path_case_test
}  // namespace gateway::policy
