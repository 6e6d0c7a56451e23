#include "config/plan_lines.hpp"

#include <gmock/gmock.h>

namespace gateway::config {
namespace plan_lines_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr base::hash_key key{1, 2};

using source = policy::key_part::source;
const policy::key_part by_client{};
const policy::key_part by_header{
    .from = source::header, .name = "x-api-key", .text = "header:x-api-key"};
const policy::key_part by_host{.from = source::host, .name = {}, .text = "host"};
const policy::key_part by_path{.from = source::path, .name = {}, .text = "path"};

// "LINE: complaint" of a file that comes in pieces of so many bytes, or "".
std::string complaint_about(
    const std::string& text,
    const policy::key_part& part = by_header,
    std::size_t piece = std::string::npos
)
{
    plan_lines lines{part, key};
    bool good = true;
    for (std::size_t at = 0; at < text.size() && good; at += std::min(piece, text.size())) {
        good = lines.add(std::string_view{text}.substr(at, piece));
    }
    good = good && lines.finish();
    EXPECT_EQ(good, lines.complaint().empty());
    return good ? "" : std::to_string(lines.line()) + ": " + lines.complaint();
}

TEST(plan_lines, reads_what_people_write_in_pieces_of_any_size)
{
    const std::string text =
        "\xef\xbb\xbf"
        "abc,gold\r\n# a comment, with a comma\n\n  \t\n  # another\n key with spaces ,  free \n"
        "a,b,c,gold\nabc,gold\n#,\nlast,silver";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        plan_lines lines{by_header, key};
        for (std::size_t at = 0; at < text.size(); at += piece) {
            ASSERT_TRUE(lines.add(std::string_view{text}.substr(at, piece)));
        }
        ASSERT_TRUE(lines.finish());
        policy::plan_table& t = lines.table();
        ASSERT_THAT(t.names(), ElementsAre("gold", "free", "silver"));
        ASSERT_EQ(t.size(), 4U);
        ASSERT_EQ(t.find("abc"), 1);
        ASSERT_EQ(t.find("key with spaces"), 2);
        ASSERT_EQ(t.find("a,b,c"), 1);
        ASSERT_EQ(t.find("last"), 3);
        ASSERT_EQ(lines.line(), 10U);
    }
}

TEST(plan_lines, an_empty_file_has_no_members)
{
    for (const char* text : {"", "\n", "# nobody\n", "\r\n\r\n"}) {
        EXPECT_EQ(complaint_about(text), "") << text;
    }
}

TEST(plan_lines, reads_addresses_and_prefixes)
{
    plan_lines lines{by_client, key};
    EXPECT_TRUE(lines.add("10.0.0.0/8,free\n10.1.1.1,gold\n2001:db8::/32,gold\n"));
    EXPECT_EQ(lines.table().find(*base::ip_address::parse("10.1.1.2")), 1);
    EXPECT_EQ(lines.table().find(*base::ip_address::parse("10.1.1.1")), 2);
    EXPECT_EQ(lines.table().find(*base::ip_address::parse("2001:db8::5")), 2);
}

TEST(plan_lines, names_the_line_that_is_bad_and_what_is_wrong_with_it)
{
    struct bad {
        std::string text;
        std::string expected;
        policy::key_part part = by_header;
    };

    const std::string too_long(policy::longest_plan_key + 1, 'k');
    const std::vector<bad> table{
        {"abc", "1: expected KEY,PLAN"},
        {"a,gold\nabc\nb,gold", "2: expected KEY,PLAN"},
        {"a,gold\n\n,gold\n", "3: the key is empty"},
        {"a,\n", "1: the name of a plan is 1 to 64 of A-Z a-z 0-9 _ . -"},
        {"a,gold plan\n", "1: the name of a plan"},
        {"a," + std::string(65, 'p'), "1: the name of a plan"},
        {too_long + ",gold\n", "1: the key is too long, the maximum is 256 bytes"},
        {"a,gold\na,free\n", "2: this key is in another plan already"},
        {"\"a\",gold\n", "1: quotes would be part of the key: write it without them"},
        {"a\x01,gold\n", "1: a control character"},
        {std::string{"a\0,gold\n", 8}, "1: a control character"},
        {"a,gold\rb,gold\n", "1: a control character"},
        {"\xc3\xa4,gold\nb\xe4r,gold\n", "2: the file is not UTF-8"},
        {"# gr\xfc\xdf\n", "1: the file is not UTF-8"},
        {"\xff\xfe"
         "a,gold\n",
         "1: the file is not UTF-8"},
        {"a,gold\n" + std::string(longest_plan_line + 1, '#'), "2: longer than 1024 bytes"},
        {"a,gold\n", "1: expected an address or a prefix such as 10.0.0.0/8", by_client},
        {"10.1.0.0/8,gold\n", "1: expected an address or a prefix", by_client},
        {"10.0.0.0/8,gold\n10.0.0.0/8,free\n", "2: this key is in another plan already", by_client},
        {"A.test,gold\na.test.,free\n", "2: this key is in another plan already", by_host},
        {"a.test/,gold\n", "1: expected a host such as example.com", by_host},
        {"a,gold\n", "1: expected a path that begins with a slash", by_path},
    };
    for (const bad& b : table) {
        EXPECT_THAT(complaint_about(b.text, b.part), ::testing::StartsWith(b.expected)) << b.text;
        EXPECT_EQ(complaint_about(b.text, b.part, 1), complaint_about(b.text, b.part)) << b.text;
    }
}

TEST(plan_lines, a_line_may_be_as_long_as_it_may_be)
{
    EXPECT_EQ(complaint_about("#" + std::string(longest_plan_line - 1, 'x') + "\na,b\n"), "");
    EXPECT_EQ(complaint_about(std::string(policy::longest_plan_key, 'k') + ",gold"), "");
}

TEST(plan_lines, reads_nothing_after_a_bad_line)
{
    plan_lines lines{by_header, key};
    EXPECT_FALSE(lines.add("a,gold\nbad\nb,gold\n"));
    EXPECT_FALSE(lines.add("c,gold\n"));
    EXPECT_FALSE(lines.finish());
    EXPECT_EQ(lines.line(), 2U);
}

TEST(plan_lines, bounds_the_plans_of_a_file)
{
    std::string text;
    for (std::size_t i = 0; i <= policy::max_plan_names; ++i) {
        text += "k" + std::to_string(i) + ",p" + std::to_string(i) + "\n";
    }
    EXPECT_EQ(complaint_about(text), "256: too many plans, the maximum is 255");
}

TEST(plan_lines, repeats_no_key)
{
    const std::string secret = "s3cr3t";
    for (const std::string& text :
         {secret, secret + ",", secret + ",a b", secret + ",a\n" + secret + ",b\n"}) {
        EXPECT_THAT(complaint_about(text), ::testing::Not(HasSubstr(secret)));
    }
}

}  // namespace plan_lines_test
}  // namespace gateway::config
