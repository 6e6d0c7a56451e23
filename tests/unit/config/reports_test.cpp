// What responses report of a limit, as it is written.
#include "config/print.hpp"
#include "tests/unit/config/complaints.hpp"

namespace gateway::config {
namespace reports_test {

using ::testing::HasSubstr;

std::string file_of(const std::string& keys)
{
    return file_with("limits: { a: { key: client_ip, rate: 10/s, " + keys + " } }");
}

settings loaded(const std::string& keys)
{
    return load_text(file_of(keys), "f");
}

const policy::limit_rule& rule_of(const settings& s)
{
    return s.policy->limits.front();
}

TEST(reports, choose_the_fields)
{
    for (const auto& [written, hidden, word] :
         {std::tuple{"true", false, ""},
          {"false", true, ""},
          {"tokens", false, "tokens"},
          {"x-2", false, "x-2"}}) {
        const settings s = loaded(std::string("headers: ") + written);
        EXPECT_EQ(rule_of(s).fields.hidden, hidden);
        EXPECT_EQ(rule_of(s).fields.word, word);
        EXPECT_THAT(print(s), HasSubstr(std::string("\n    headers: ") + written + "\n"));
    }
    EXPECT_TRUE(rule_of(loaded("burst: 2")).fields.usual());
}

TEST(reports, have_a_soft_threshold)
{
    const settings s = loaded("soft: 80%");
    EXPECT_EQ(rule_of(s).soft, 80);
    EXPECT_THAT(print(s), HasSubstr("\n    soft: 80%\n"));
    EXPECT_EQ(rule_of(loaded("burst: 2")).soft, 0);
}

TEST(reports, that_cannot_be_are_complained_of)
{
    const std::string word = "headers: expected true, false, or a word such as tokens";
    const std::string part = "soft: expected a part of the limit such as 80%, from 1% to 99%";
    for (const auto& [keys, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"headers: no", word},
             {"headers: Tokens", word},
             {"headers: to_kens", word},
             {"headers: tokens-", word},
             {"headers: 2x", word},
             {"headers: \"\"", word},
             {"headers: " + std::string(33, 'x'), word},
             {"soft: 80", part},
             {"soft: 0%", part},
             {"soft: 100%", part},
             {"soft: \"%\"", part},
             {"soft: 1.5%", part}}) {
        EXPECT_THAT(problems_of(file_of(keys)), HasSubstr("limits.a." + complaint)) << keys;
    }
}

TEST(reports, of_its_limits_are_known_to_a_route)
{
    const auto route = [](const std::string& keys) { return loaded(keys).policy->routes.front(); };
    EXPECT_TRUE(route("burst: 2").reports_limits);
    EXPECT_FALSE(route("headers: false, soft: 50%").reports_limits);
    EXPECT_FALSE(route("headers: false, soft: 50%").may_warn);
    EXPECT_TRUE(route("soft: 50%").may_warn);
    EXPECT_FALSE(route("headers: tokens").reports_limits);
    EXPECT_THAT(route("headers: tokens").limit_words, testing::ElementsAre("tokens"));
    EXPECT_THAT(route("headers: tokens, mode: shadow").limit_words, testing::IsEmpty());
    EXPECT_FALSE(route("soft: 50%, mode: shadow").may_warn);
}

}  // namespace reports_test
}  // namespace gateway::config
