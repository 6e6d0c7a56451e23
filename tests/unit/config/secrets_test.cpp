// Texts that the configuration file names and does not hold.
#include "config/print.hpp"
#include "tests/unit/config/complaints.hpp"
#include "tests/unit/own_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gateway::config {
namespace secrets_test {

using ::testing::HasSubstr;
using ::testing::Not;

class secret_texts : public ::testing::Test {
protected:
    const unit::own_folder folder;
    const std::string path = folder.path() / "secret";

    secret_texts() { ::setenv("SECRET_TEXT", "hunter2!", 1); }

    ~secret_texts() override { ::unsetenv("SECRET_TEXT"); }

    void write(const std::string& bytes) const { std::ofstream{path, std::ios::binary} << bytes; }

    static std::string with_token(const std::string& value)
    {
        return file_with(
            "routes: [{ request_headers: { set: { X-Env: prod, Token: " + value +
            " } }, upstream: u }]"
        );
    }

    static std::string lines_set(const std::string& text)
    {
        return load_text(text, "/etc/f").policy->routes.front().shape.request.lines;
    }
};

TEST_F(secret_texts, are_those_of_a_variable_or_a_file)
{
    EXPECT_EQ(lines_set(with_token("{ env: SECRET_TEXT }")), "X-Env: prod\r\nToken: hunter2!\r\n");
    for (const char* end : {"", "\n", "\r\n"}) {
        write(std::string("hunter3!") + end);
        EXPECT_EQ(
            lines_set(with_token("{ file: \"" + path + "\" }")),
            "X-Env: prod\r\nToken: hunter3!\r\n"
        );
    }
}

TEST_F(secret_texts, stand_for_any_text)
{
    ::setenv("SECRET_TEXT", "redis://:hunter2!@h:7/1", 1);
    const settings s = load_text(file_with("stores: { s: { url: { env: SECRET_TEXT } } }"), "f");
    const std::string printed = print(s);
    EXPECT_THAT(printed, HasSubstr("url: \"***\"\n"));
    EXPECT_THAT(printed, Not(HasSubstr("h:7")));
}

// A route's name is a label of metrics.
TEST_F(secret_texts, name_no_route)
{
    ::setenv("SECRET_TEXT", "/hook-hunter2", 1);
    const auto with_route = [](const std::string& keys) {
        return file_with("routes: [{ " + keys + ", upstream: u }]");
    };
    EXPECT_THAT(
        problems_of(with_route("match: { path: { env: SECRET_TEXT } }")),
        HasSubstr("routes[0].name: missing: the default would show a secret of \"match\"")
    );
    const settings s =
        load_text(with_route("name: hook, match: { path: { env: SECRET_TEXT } }"), "f");
    EXPECT_EQ(s.policy->routes.front().name, "hook");
    EXPECT_THAT(print(s), Not(HasSubstr("hunter2")));
}

TEST_F(secret_texts, stand_for_servers)
{
    ::setenv("SECRET_TEXT", "app:81", 1);
    const auto with_servers = [](const std::string& servers) {
        return file_with("upstreams: { u: { servers: " + servers + " } }");
    };
    const std::string alone = "{ env: SECRET_TEXT }";
    for (const std::string& servers :
         {alone, "[\"app:80\", " + alone + "]", "[{ address: " + alone + ", weight: 2 }]"}) {
        const settings s = load_text(with_servers(servers), "f");
        EXPECT_EQ(s.upstreams.front().servers.back().address.port, "81") << servers;
        EXPECT_THAT(print(s), Not(HasSubstr("app:81"))) << servers;
    }
    EXPECT_THAT(
        problems_of(with_servers("[{ env: NO_SUCH_VARIABLE }]")),
        HasSubstr("u.servers[0]: the environment variable \"NO_SUCH_VARIABLE\" is not set")
    );
}

TEST_F(secret_texts, are_not_printed)
{
    const std::string printed = print(load_text(with_token("{ env: SECRET_TEXT }"), "f"));
    EXPECT_THAT(printed, HasSubstr("      set: \"***\"\n"));
    EXPECT_THAT(printed, Not(HasSubstr("hunter2")));
    EXPECT_THAT(print(load_text(with_token("plain"), "f")), HasSubstr("set: { X-Env: prod, "));
}

TEST_F(secret_texts, that_are_not_there_are_complained_of)
{
    const std::string name = "routes[0].request_headers.set.Token: ";
    write("\n");
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"{ env: NO_SUCH_VARIABLE }", "the environment variable \"NO_SUCH_VARIABLE\" is not set"},
        {"{ env: [A] }", "expected the name of an environment variable, got a list"},
        {"{ file: no/such/file }", "\"no/such/file\" cannot be read"},
        {"{ file: /dev/zero }", "\"/dev/zero\" cannot be read: it is no regular file"},
        {"{ file: \"" + path + "\" }", config::quote(path) + " is empty"},
        {"{ env: A, file: B }", "expected a header's value, got a mapping"},
        {"{ environment: A }", "expected a header's value, got a mapping"},
    };
    for (const auto& [value, complaint] : rows) {
        EXPECT_THAT(problems_of(with_token(value)), HasSubstr(name + complaint)) << value;
    }
}

TEST_F(secret_texts, are_one_line)
{
    for (const std::string bytes : {"a\r\nX-Evil: 1\n", "a\n\n", "a\tb", "a\x7f"}) {
        write(bytes);
        EXPECT_THAT(
            problems_of(with_token("{ file: \"" + path + "\" }")),
            HasSubstr("a line break or a control character")
        );
    }
}

TEST_F(secret_texts, are_not_told_in_complaints_about_them)
{
    for (const char* text :
         {"routes: [{ redirect: { to: { env: SECRET_TEXT } } }]",
          "routes: [{ match: { path: { env: SECRET_TEXT } }, upstream: u }]",
          "routes: [{ upstream: { env: SECRET_TEXT } }]",
          "limits: { a: { key: { env: SECRET_TEXT }, rate: 1/s } }"}) {
        const std::string problems = problems_of(file_with(text));
        EXPECT_THAT(problems, HasSubstr("***")) << text;
        EXPECT_THAT(problems, Not(HasSubstr("hunter2"))) << text;
    }
}

TEST_F(secret_texts, are_texts_alone)
{
    ::setenv("SECRET_TEXT", "5", 1);
    EXPECT_THAT(
        problems_of(file_with("drain_timeout: { env: SECRET_TEXT }")),
        HasSubstr("drain_timeout: expected a duration")
    );
    EXPECT_THAT(
        problems_of(file_with("http: { max_headers: { env: SECRET_TEXT } }")),
        HasSubstr("http.max_headers: expected a whole number")
    );
}

}  // namespace secrets_test
}  // namespace gateway::config
