// Where lines of requests go, and which fields they have.
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::config {
namespace log_test {

using kind = telemetry::log_target::kind;
using testing::AllOf;
using testing::HasSubstr;

sample with(const std::string& log, const std::string& more = {})
{
    sample s;
    s.rest = more + "log: { " + log + " }\n";
    return s;
}

telemetry::log_target output(const std::string& text)
{
    return with("output: \"" + text + "\"").load().log.output;
}

std::string complaint(const std::string& log, const std::string& more = {})
{
    return problems_of(with(log, more).text());
}

std::string field(const std::string& part)
{
    return "fields: { f: \"" + part + "\" }";
}

const std::string jwt = "jwt: { keys: \"" SOURCE_DIR "/tests/unit/config/jwks.json\" }\n";

TEST(log_output, is_stdout_syslog_or_a_file)
{
    EXPECT_EQ(sample{}.load().log.output.is, kind::standard_output);
    EXPECT_EQ(output("stdout").is, kind::standard_output);
    EXPECT_EQ(output("syslog").is, kind::unix_syslog);
    EXPECT_EQ(output("syslog").address, "/dev/log");
    EXPECT_EQ(output("syslog:/run/log").address, "/run/log");
    EXPECT_EQ(output("syslog:10.0.0.1:514").is, kind::udp_syslog);
    EXPECT_EQ(output("syslog:10.0.0.1:514").address, "10.0.0.1");
    EXPECT_EQ(output("syslog:[::1]:514").address, "::1");
    EXPECT_EQ(output("syslog:[::1]:514").port, 514);
    EXPECT_EQ(output("/var/log/a.log").is, kind::file);
    EXPECT_EQ(output("/var/log/a.log").address, "/var/log/a.log");
    EXPECT_THAT(output("./a.log").address, testing::EndsWith("./a.log"));
}

TEST(log_output, refuses_what_is_none)
{
    for (const auto* bad : {"stdot", "stderr", "", "/var/log/", "udp://127.0.0.1:514"}) {
        EXPECT_THAT(
            complaint("output: \"" + std::string{bad} + "\""),
            AllOf(HasSubstr("log.output: "), HasSubstr("the path of a file"))
        ) << bad;
    }
    for (const auto* bad : {"syslog:", "syslog:host:514", "syslog:10.0.0.1", "syslog:10.0.0.1:0"}) {
        EXPECT_THAT(
            complaint("output: \"" + std::string{bad} + "\""),
            AllOf(HasSubstr("log.output: "), HasSubstr("IP:PORT"))
        ) << bad;
    }
}

TEST(log_fields, are_parts_of_requests_by_their_names)
{
    const settings s =
        with("fields: { tenant: jwt:sub, agent: header:User-Agent, net: client_ip/24 }", jwt)
            .load();
    const auto& fields = s.policy->log_fields;
    ASSERT_EQ(fields.size(), 3U);
    EXPECT_EQ(fields[0].name, "tenant");
    EXPECT_EQ(fields[0].part.from, policy::key_part::source::jwt);
    EXPECT_EQ(fields[1].part.name, "user-agent");
    EXPECT_EQ(fields[2].part.prefix, 24);
    EXPECT_TRUE(s.policy->logs_claims);
    EXPECT_EQ(s.policy->token->good.claims, std::vector<std::string>{"sub"});
    EXPECT_TRUE(sample{}.load().policy->log_fields.empty());
}

TEST(log_fields, have_no_credentials)
{
    for (const auto* secret :
         {"header:Authorization",
          "header:Proxy-Authorization",
          "header:Cookie",
          "header:Set-Cookie",
          "header:X-Api-Key",
          "header:X-Auth-Token",
          "cookie:session_id",
          "cookie:PHPSESSID",
          "query:api_key",
          "query:access_token"}) {
        EXPECT_THAT(
            complaint(field(secret)),
            testing::AnyOf(HasSubstr("log.fields.f: "), HasSubstr("carries a credential"))
        ) << secret;
        EXPECT_NE(complaint(field(secret)), "") << secret;
    }
    const std::string in_header =
        "jwt: { keys: \"" SOURCE_DIR "/tests/unit/config/jwks.json\", header: X-Who }\n";
    EXPECT_THAT(complaint(field("header:x-who"), in_header), HasSubstr("carries a credential"));
    EXPECT_EQ(complaint(field("header:x-who")), "");
    EXPECT_EQ(complaint(field("header:Idempotency-Key")), "");
    EXPECT_EQ(complaint(field("header:X-Authenticated-User")), "");
}

TEST(log_fields, refuse_what_no_request_has_or_every_line_has)
{
    EXPECT_THAT(complaint(field("jwt:sub")), HasSubstr("there is no \"jwt\""));
    EXPECT_THAT(complaint(field("cert:subject")), HasSubstr("client_certificates"));
    EXPECT_THAT(complaint(field("agent")), HasSubstr("log.fields.f: expected client_ip"));
    EXPECT_THAT(complaint("fields: { host: method }"), HasSubstr("choose another name"));
    EXPECT_THAT(complaint("fields: { \"a b\": method }"), HasSubstr("a name is 1 to 64"));
    EXPECT_THAT(complaint("fields: [ method ]"), HasSubstr("expected a mapping"));
    std::string many;
    for (int i = 0; i < 17; ++i) {
        many += "f" + std::to_string(i) + ": method, ";
    }
    EXPECT_THAT(complaint("fields: { " + many + " }"), HasSubstr("too many, the maximum is 16"));
}

}  // namespace log_test
}  // namespace gateway::config
