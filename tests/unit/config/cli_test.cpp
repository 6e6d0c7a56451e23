// The command line is part of the executable and of no library, so its source is taken in here.
#define GATEWAY_VERSION "1.2.3"
#include "gateway/commands/cli.cpp"

#include "tests/unit/config/sample.hpp"
#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::cli {
namespace cli_test {

using testing::HasSubstr;

std::variant<request, output> parse_words(std::vector<const char*> words)
{
    words.insert(words.begin(), "gateway");
    return parse(static_cast<int>(words.size()), words.data());
}

TEST(cli, each_command_takes_a_configuration)
{
    for (const command_text& text : commands) {
        if (text.what == command::schema || text.what == command::explain) {
            continue;
        }
        std::vector<const char*> words{text.name, "--config", "a.yaml"};
        if (text.what == command::replay) {
            words.push_back("access.log");
        }
        const auto parsed = parse_words(words);
        const auto* asked = std::get_if<request>(&parsed);
        ASSERT_NE(asked, nullptr) << text.name;
        EXPECT_EQ(asked->what, text.what);
        EXPECT_EQ(asked->config_path, "a.yaml");
    }
    const auto twice = parse_words({"run", "--config=a.yaml", "--config", "b.yaml"});
    EXPECT_EQ(std::get<request>(twice).config_path, "b.yaml");
}

TEST(cli, help_and_version_are_answers_that_succeed)
{
    EXPECT_EQ(std::get<output>(parse_words({"--version"})).text, "gateway 1.2.3\n");
    EXPECT_EQ(std::get<output>(parse_words({"--version"})).status, done);
    const auto help = std::get<output>(parse_words({"--help"}));
    EXPECT_EQ(help.status, done);
    for (const command_text& text : commands) {
        EXPECT_THAT(help.text, HasSubstr(text.name));
        const auto own = std::get<output>(parse_words({text.name, "--help"}));
        EXPECT_EQ(own.status, done);
        EXPECT_THAT(own.text, HasSubstr(text.description));
    }
}

TEST(cli, replay_takes_logs_and_shares)
{
    const auto parsed = parse_words(
        {"replay", "--config", "a.yaml", "--suggest", "0.1%", "--format", "json", "x.log", "-"}
    );
    const replay_request& asked = std::get<request>(parsed).replay;
    EXPECT_EQ(asked.logs, (std::vector<std::string>{"x.log", "-"}));
    ASSERT_TRUE(asked.accepted_requests.has_value());
    EXPECT_DOUBLE_EQ(*asked.accepted_requests, 0.001);
    EXPECT_FALSE(asked.accepted_clients.has_value());
    EXPECT_TRUE(asked.as_json);
    for (const char* share : {"0.1", "%", "-1%", "101%", "a%", "nan%"}) {
        const auto wrong =
            parse_words({"replay", "--config", "a.yaml", "--suggest-clients", share, "x.log"});
        ASSERT_TRUE(std::holds_alternative<output>(wrong)) << share;
        EXPECT_EQ(std::get<output>(wrong).status, wrong_usage) << share;
    }
    EXPECT_EQ(std::get<output>(parse_words({"replay", "--config", "a.yaml"})).status, wrong_usage);
}

TEST(cli, check_and_print_take_the_file_by_itself)
{
    for (const char* command : {"check", "print"}) {
        EXPECT_EQ(std::get<request>(parse_words({command, "a.yaml"})).config_path, "a.yaml");
        EXPECT_EQ(std::get<request>(parse_words({command, "-"})).config_path, "-");
        EXPECT_EQ(std::get<request>(parse_words({command, "--config", "-"})).config_path, "-");
        const auto two = parse_words({command, "a.yaml", "b.yaml"});
        EXPECT_EQ(std::get<output>(two).status, wrong_usage);
    }
}

TEST(cli, migrate_may_print_instead)
{
    EXPECT_FALSE(std::get<request>(parse_words({"migrate", "--config", "a.yaml"})).prints_sql);
    const auto printing = parse_words({"migrate", "--print-sql", "--config", "a.yaml"});
    EXPECT_TRUE(std::get<request>(printing).prints_sql);
}

TEST(cli, explain_takes_a_request)
{
    const auto parsed = parse_words(
        {"explain",
         "--config",
         "a.yaml",
         "POST",
         "/a?b",
         "-H",
         "X-Key:  k ",
         "-H",
         "X-Key:",
         "--peer",
         "::1",
         "--admin",
         "unix:/run/a.sock"}
    );
    const auto* asked = std::get_if<request>(&parsed);
    ASSERT_NE(asked, nullptr) << std::get<output>(parsed).text;
    EXPECT_EQ(asked->what, command::explain);
    EXPECT_EQ(asked->hypothetical.method, "POST");
    EXPECT_EQ(asked->hypothetical.url, "/a?b");
    using headers = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(asked->hypothetical.headers, (headers{{"X-Key", "k"}, {"X-Key", ""}}));
    EXPECT_EQ(asked->hypothetical.peer, "::1");
    EXPECT_EQ(asked->admin->socket_path, "/run/a.sock");
    const auto short_one = parse_words({"explain", "GET", "/", "--config", "a.yaml"});
    EXPECT_EQ(std::get<request>(short_one).hypothetical.peer, "127.0.0.1");
    EXPECT_FALSE(std::get<request>(short_one).admin);
}

TEST(cli, explain_refuses_what_is_no_request)
{
    const std::vector<std::vector<const char*>> bad{
        {"explain", "--config", "a.yaml"},
        {"explain", "--config", "a.yaml", "GET"},
        {"explain", "--config", "a.yaml", "GET", "/", "-H", "x"},
        {"explain", "--config", "a.yaml", "GET", "/", "-H", ":x"},
        {"explain", "--config", "a.yaml", "GET", "/", "--admin", "x"},
        {"explain", "GET", "/"}};
    for (const auto& words : bad) {
        EXPECT_EQ(std::get<output>(parse_words(words)).status, wrong_usage) << words.back();
    }
}

TEST(cli, the_schema_needs_no_configuration)
{
    EXPECT_EQ(std::get<request>(parse_words({"schema"})).what, command::schema);
    std::ostringstream out;
    EXPECT_EQ(schema(out), done);
    EXPECT_THAT(out.str(), testing::StartsWith("{\"$schema\":"));
}

TEST(cli, wrong_usage_is_a_complaint_with_status_2)
{
    const std::vector<std::vector<const char*>> wrong = {
        {},
        {"serve"},
        {"run"},
        {"run", "--config"},
        {"schema", "--config", "a.yaml"},
        {"run", "--confg", "a.yaml"},
        {"--config", "a.yaml"},
        {"run", "--config", "a.yaml", "extra"},
        {"run", "check", "--config", "a.yaml"},
        {"run", "--config", "a.yaml", "check", "--config", "a.yaml"},
    };
    for (const auto& words : wrong) {
        const auto parsed = parse_words(words);
        const auto* complaint = std::get_if<output>(&parsed);
        ASSERT_NE(complaint, nullptr) << testing::PrintToString(words);
        EXPECT_EQ(complaint->status, wrong_usage);
        EXPECT_THAT(complaint->text, testing::EndsWith("\n"));
        EXPECT_THAT(complaint->text, HasSubstr("--help"));
    }
}

TEST(cli, an_unknown_command_is_named_and_the_nearest_suggested)
{
    EXPECT_EQ(
        std::get<output>(parse_words({"chek", "--config", "a.yaml"})).text,
        "unknown command \"chek\", did you mean \"check\"?\nRun with --help for more information.\n"
    );
    EXPECT_THAT(
        std::get<output>(parse_words({"foo"})).text,
        testing::StartsWith(
            "unknown command \"foo\"; known here: run, check, print, explain, top, health, "
            "migrate, replay, schema\n"
        )
    );
}

TEST(cli, check_says_ok_and_print_prints)
{
    const std::string path = SOURCE_DIR "/gateway.yaml.example";
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(check(path, out, err), done);
    EXPECT_EQ(out.str(), path + ": ok\n");
    out.str("");
    EXPECT_EQ(print(path, out, err), done);
    EXPECT_EQ(config::problems_of(out.str()), "");
    EXPECT_EQ(err.str(), "");
}

TEST(cli, problems_go_to_stderr_with_status_2)
{
    for (const auto command : {&check, &print}) {
        std::ostringstream out;
        std::ostringstream err;
        EXPECT_EQ(command("/nowhere.yaml", out, err), wrong_usage);
        EXPECT_EQ(out.str(), "");
        EXPECT_EQ(err.str(), "/nowhere.yaml: cannot be read: No such file or directory\n");
    }
}

TEST(cli, warnings_go_to_stderr_and_do_no_harm)
{
    const unit::own_folder folder;
    const std::string path = folder.path() / "gateway.yaml";
    std::ofstream{path} << "client: { trusted_hops: 2 }\n" << config::sample{}.text();
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(check(path, out, err), done);
    EXPECT_EQ(out.str(), path + ": ok\n");
    EXPECT_THAT(
        err.str(), testing::StartsWith("warning: " + path + ":1:25: client.trusted_hops: ")
    );
}

}  // namespace cli_test
}  // namespace gateway::cli
