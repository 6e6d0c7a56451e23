// An explanation of a request says what the request then gets.
#include "tests/unit/admin/explained_gate.hpp"
#include "tests/unit/admin/explained_policy.hpp"
#include "tests/unit/admin/explained_request.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace gateway::admin {
namespace explained_property_test {

using explained::fate;
using std::chrono::minutes;

// Lets some time pass, and requests in flight end.
void pass_time(explained::gate& through, std::mt19937& random)
{
    constexpr std::array<base::duration, 6> times{
        base::duration{0},
        base::duration{0},
        std::chrono::seconds{1},
        minutes{3},
        minutes{20},
        minutes{150}};
    if (random() % 4 == 0) {
        through.pass(times[random() % times.size()]);
    }
    if (random() % 3 == 0) {
        through.end_one();
    }
}

// True if the request gets what was foreseen, or is banned by the very rejection that was foreseen,
// which an explanation does not count.
bool is_foreseen(const fate& explained, const fate& got)
{
    return explained == got ||
           (explained.how == fate::end::rejected && got.how == fate::end::banned);
}

std::string kind_in(const std::string& text)
{
    const std::size_t begin = text.find('[') + 1;
    return text.substr(begin, text.find_first_of("0123456789]", begin) - begin);
}

TEST(explained, is_what_the_request_then_gets)
{
    std::mt19937 random{35};
    std::map<std::string, int> seen;
    for (int p = 0; p < 100; ++p) {
        const explained::random_policy made{random};
        explained::gate through{made.policy};
        for (int i = 0; i < 100; ++i) {
            pass_time(through, random);
            const explained::random_request one{random};
            const intake::hypothetical_request& request = one.get();
            const fate explained = through.explain(request);
            const fate got = through.admit(request, random() % 40);
            ASSERT_PRED2(is_foreseen, explained, got)
                << "policy " << p << ", request " << i << ": " << request.method << ' '
                << request.url << ' ' << request.content << "\nexplained: " << explained.text
                << "\ngot:       " << got.text;
            ++seen[got.text.substr(0, got.text.find(' '))];
            ++seen[got.how == fate::end::rejected ? kind_in(got.text) : ""];
            ++seen[got.how == fate::end::banned ? "banned" : ""];
            ++seen[got.text.ends_with("later part shows") ? "late" : ""];
            ++seen[got.text.ends_with("have not been fetched yet") ? "without keys" : ""];
        }
    }
    for (const char* what :
         {"allowed",
          "over_limit",
          "200",
          "400",
          "403",
          "404",
          "405",
          "413",
          "429",
          "503",
          "bucket",
          "window",
          "sliding",
          "log",
          "permits",
          "banned",
          "late",
          "without keys"}) {
        EXPECT_GT(seen[what], 20) << what;
    }
}

}  // namespace explained_property_test
}  // namespace gateway::admin
