#include "config/text/document.hpp"

#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::config {
namespace document_test {

using testing::HasSubstr;
using testing::StartsWith;

struct bad {
    std::string text;
    std::string expected;  // how the complaint begins
};

TEST(document, what_is_no_document_is_one_clear_line)
{
    const std::vector<bad> table = {
        {"", "f: the file is empty"},
        {"# only a comment\n", "f: the file is empty"},
        {"~", "f: the file is empty"},
        {"just text", "f:1:1: expected a mapping, got a plain value"},
        {"- a\n- b\n", "f:1:1: expected a mapping, got a list"},
        {"a: b: c", "f:1:5: not valid YAML: "},
        {"a: [1, 2", "f:1:"},
        {"a: \"unfinished", "f:1:"},
        {"a: 1\n\tb: 2\n", "f:2:"},
        {"a: 1\n---\nb: 2\n", "f:2:1: more than one YAML document"},
        {"a: &x 1\nb: *x\n", "f:1:4: anchors and aliases are not supported"},
        {"a: *x\n", "f:1:4: not valid YAML: "},
        {"a: !!str 1\n", "f:1:4: YAML tags are not supported"},
        {"a: b\x04\nc: d\n", "f:1:5: control character in the file"},
        {std::string("a\0:\0", 4), "f:1:2: control character in the file"},
        {"a: b\n# \xc3\xa4 \xe4\nc: d\n", "f:2:6: the file is not UTF-8"},
        {"\xff\xfe"
         "a: b\n",
         "f:1:1: the file is not UTF-8"},
        {"a: \xed\xa0\x80\n", "f:1:4: the file is not UTF-8"},
        {"a: \xf0\x9f\x98", "f:1:4: the file is not UTF-8"},
        {"a: \"x\\ny\"\n", "f:1:4: control character or line break in a value"},
        {"? [a, b]\n: c\n", "f:1:3: a key must be text, not a list"},
        {"~: c\n", "f:1:1: a key must be text, not nothing"},
        {std::string(33, '[') + std::string(33, ']'), "f:1:33: nested more than 32 levels deep"},
        {std::string(100'000, '['), "f:1:"},
        {"a: {" + std::string(5'000, '{'), "f:1:"},
        {std::string(max_file_bytes + 1, ' '), "f: larger than the maximum of 16MiB"},
    };
    for (const bad& b : table) {
        const std::string problems = problems_of(b.text);
        EXPECT_THAT(problems, StartsWith(b.expected)) << b.text.substr(0, 80);
        EXPECT_EQ(problems.find('\n'), std::string::npos) << problems;
    }
}

TEST(document, an_alias_bomb_is_refused_at_its_first_anchor)
{
    std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
    for (char c = 'b'; c < 'z'; ++c) {
        const std::string before = "*" + std::string(1, static_cast<char>(c - 1));
        bomb += std::string(1, c) + ": &" + c + " [" + before + "," + before + "," + before + "]\n";
    }
    EXPECT_THAT(problems_of(bomb), StartsWith("f:1:4: anchors and aliases are not supported"));
    EXPECT_THAT(problems_of("<<: {a: 1}\n"), HasSubstr("f:1:1: \"<<\": unknown key"));
}

TEST(document, thousands_of_problems_are_bounded_and_quick)
{
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
        text += "k" + std::to_string(i) + ":\n";
    }
    try {
        load_text(text, "f");
        FAIL();
    } catch (const config_error& e) {
        EXPECT_EQ(e.problems().size(), findings::max_problems + 1);
        EXPECT_EQ(e.problems().back().message, "more than 1000 problems");
    }
}

TEST(document, files_that_cannot_be_read_say_why)
{
    const auto says = [](const std::string& path) -> std::string {
        try {
            load_file(path);
        } catch (const config_error& e) {
            return e.what();
        }
        return {};
    };
    EXPECT_EQ(
        says("/nowhere/gateway.yaml"),
        "/nowhere/gateway.yaml: cannot be read: No such file or directory"
    );
    EXPECT_EQ(says("/tmp"), "/tmp: cannot be read: Is a directory");
    EXPECT_EQ(says("/dev/null"), "/dev/null: the file is empty");
    EXPECT_EQ(says("/dev/zero"), "/dev/zero: larger than the maximum of 16MiB");
}

}  // namespace document_test
}  // namespace gateway::config
