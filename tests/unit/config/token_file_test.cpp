#include "config/keys/token_file.hpp"

#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace gateway::config {
namespace token_file_test {

using testing::HasSubstr;
using testing::Not;

std::string file_with(const std::string& bytes)
{
    static const unit::own_folder folder;
    const std::string path = folder.path() / "token";
    std::ofstream{path, std::ios::binary} << bytes;
    return path;
}

TEST(token_file, holds_one_line)
{
    const std::string all = "ABCZabcz0189-._~+/=";
    for (const char* end : {"", "\n", "\r\n"}) {
        EXPECT_EQ(read_token(file_with(all + end)).value, all);
    }
    const std::string longest(max_token_bytes, 'x');
    EXPECT_EQ(read_token(file_with(longest + "\r\n")).value, longest);
}

TEST(token_file, that_holds_something_else_is_refused_without_telling_what)
{
    const auto complaint = [](const std::string& bytes) {
        const auto read = read_token(file_with(bytes));
        EXPECT_FALSE(read.value) << bytes;
        EXPECT_THAT(read.complaint, Not(HasSubstr("hunter2")));
        return read.complaint;
    };
    EXPECT_THAT(complaint(""), HasSubstr("openssl rand"));
    EXPECT_THAT(complaint("\n"), HasSubstr("empty"));
    for (const char* bytes :
         {"hunter2 hunter2",
          "hunter2\nhunter2\n",
          " hunter2",
          "hunter2\t",
          "hunter2\xc3\xa4",
          "\"hunter2\"",
          "hunter2\n\n"}) {
        EXPECT_THAT(complaint(bytes), HasSubstr("one line")) << bytes;
    }
    EXPECT_THAT(complaint(std::string(max_token_bytes + 1, 'x')), HasSubstr("longer than 1024"));
    EXPECT_THAT(complaint(std::string(1'000'000, 'x')), HasSubstr("is larger than 1026"));
}

TEST(password_file, holds_any_bytes_but_the_end_of_its_line)
{
    for (const char* end : {"", "\n", "\r\n"}) {
        EXPECT_EQ(
            read_password(file_with(std::string{" p\xc3\xa4ss word:@\t"} + end)).value,
            " p\xc3\xa4ss word:@\t"
        );
    }
    EXPECT_THAT(read_password(file_with("\n")).complaint, HasSubstr("empty"));
    for (const char* bytes : {"hunter2\nx", "hunter2\n\n", "\nhunter2\n", "hunter2\r\nx\r\n"}) {
        const std::string complaint = read_password(file_with(bytes)).complaint;
        EXPECT_THAT(complaint, HasSubstr("one line")) << bytes;
        EXPECT_THAT(complaint, Not(HasSubstr("hunter2")));
    }
    const std::string long_one(max_password_bytes + 1, 'x');
    EXPECT_THAT(read_password(file_with(long_one)).complaint, HasSubstr("longer than 512"));
    EXPECT_THAT(read_password("/nowhere/password").complaint, HasSubstr("cannot be read"));
}

TEST(token_file, must_be_a_file)
{
    EXPECT_THAT(read_token("/nowhere/token").complaint, HasSubstr("cannot be read"));
    EXPECT_THAT(read_token("/dev/zero").complaint, HasSubstr("no regular file"));
    EXPECT_THAT(read_token("").complaint, HasSubstr("cannot be read"));
}

}  // namespace token_file_test
}  // namespace gateway::config
