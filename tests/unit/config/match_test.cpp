// Schemes and headers of matches, as they are written.
#include "config/print.hpp"
#include "tests/unit/config/complaints.hpp"

namespace gateway::config {
namespace match_test {

using policy::header_match;
using policy::url_scheme;
using testing::HasSubstr;

std::string with_matches(const std::string& first, const std::string& second)
{
    return file_with(
        "routes:\n  - { match: { " + first + " }, upstream: u }\n" + "  - { match: { " + second +
        " }, upstream: u }\n"
    );
}

TEST(match, has_headers_sorted_by_their_names)
{
    const settings s =
        load_text(with_matches("headers: { X-Tier: \"B b\", x-ENV: Prod }", "path: /"), "f");
    EXPECT_EQ(
        s.policy->routes.at(0).match.headers,
        (std::vector<header_match>{{"x-env", "Prod"}, {"x-tier", "B b"}})
    );
}

TEST(match, names_routes_by_headers_and_schemes_where_they_differ_in_nothing_else)
{
    const auto names = [](const std::string& first, const std::string& second) {
        const settings s = load_text(with_matches(first, second), "f");
        return s.policy->routes.at(0).name + '|' + s.policy->routes.at(1).name;
    };
    EXPECT_EQ(names("path: /a", "path: /b, headers: { x-env: b }"), "/a|/b");
    EXPECT_EQ(names("path: /a", "path: /a, headers: { x-env: b }"), "/a|/a x-env");
    EXPECT_EQ(names("scheme: http", "path: /"), "http://*|/");
    EXPECT_EQ(names("scheme: http", "headers: { b: c, a: d }"), "http://*|* a b");
    EXPECT_EQ(
        names("scheme: https, path: /a", "scheme: http, path: /a, methods: [GET]"),
        "https:///a|GET http:///a"
    );
}

// The values may be secret, so no name is made of them.
TEST(match, of_two_values_of_one_header_needs_names)
{
    const std::string problems =
        problems_of(with_matches("headers: { a: s3cret }", "headers: { a: other }"));
    EXPECT_THAT(problems, HasSubstr("routes[1].name: has the same name as routes[0]: \"* a\""));
    EXPECT_THAT(problems, Not(HasSubstr("s3cret")));
}

TEST(match, is_the_same_with_the_same_headers_and_scheme_only)
{
    EXPECT_THAT(
        problems_of(with_matches("headers: { a: b, c: d }", "headers: { C: d, A: b }")),
        HasSubstr("routes[1]: matches the same requests as routes[0]")
    );
    EXPECT_THAT(
        problems_of(with_matches("scheme: http", "scheme: http")),
        HasSubstr("routes[1]: matches the same requests as routes[0]")
    );
}

TEST(match, that_cannot_be_is_complained_of)
{
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"scheme: ftp", "scheme: expected http or https, got \"ftp\""},
        {"scheme: [http]", "scheme: "},
        {"headers: [a]", "headers: expected a mapping from 1 to 8 names"},
        {"headers: {}", "headers: expected a mapping from 1 to 8 names"},
        {"headers: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1 }", "headers: expected"},
        {"headers: { a: [1] }", "headers.a: "},
        {"headers: { a: \"\" }", "headers.a: expected 1 to 128 printable"},
        {"headers: { a: \" b\" }", "headers.a: expected 1 to 128 printable"},
        {"headers: { a: \"\\xE9\" }", "headers.a: expected 1 to 128 printable"},
        {"headers: { a: b, A: c }", "headers.A: this header is listed already"},
        {"headers: { \"a b\": c }", "headers.\"a b\": expected the name of a header"},
        {"headers: { Host: c }", "headers.Host: \"Host\" is matched by \"host\""},
        {"headers: { X-Forwarded-Proto: https }",
         "headers.X-Forwarded-Proto: \"X-Forwarded-Proto\" is matched by \"scheme\""},
        {"headers: { X-Real-IP: b }", "headers.X-Real-IP: \"X-Real-IP\" is taken from trusted"},
        {"headers: { client-cert: b }", "headers.client-cert: \"client-cert\" is never taken from"},
        {"headers: { Client-Cert-Chain: b }",
         "headers.Client-Cert-Chain: \"Client-Cert-Chain\" is never taken from clients"},
        {"headers: { TE: b }", "headers.TE: \"TE\" is about one connection"},
        {"headers: { Content_Length: 1 }", "headers.Content_Length: \"Content_Length\" is about"},
    };
    for (const auto& [keys, complaint] : rows) {
        EXPECT_THAT(
            problems_of(with_matches(keys, "path: /other")),
            HasSubstr("routes[0].match." + complaint)
        ) << keys;
    }
}

TEST(match, has_a_bound_of_different_sets_of_headers_for_one_path)
{
    std::string routes = "routes:\n";
    for (const char name : std::string("abcdefgh")) {
        const std::string letter(1, name);
        routes += "  - { match: { headers: { " + letter + ": 1 } }, upstream: u }\n";
        routes += "  - { name: " + letter + "2, match: { headers: { " + letter +
                  ": 2 } }, upstream: u }\n";
    }
    EXPECT_EQ(problems_of(file_with(routes)), "");
    const std::string elsewhere = "  - { match: { path: /x, headers: { i: 1 } }, upstream: u }\n";
    EXPECT_EQ(problems_of(file_with(routes + elsewhere)), "");
    EXPECT_THAT(
        problems_of(file_with(routes + "  - { match: { headers: { i: 1 } }, upstream: u }\n")),
        HasSubstr("routes[16].match.headers: routes of one path may name 8 different sets")
    );
}

TEST(match, may_ignore_the_case_of_a_path)
{
    const settings s = load_text(with_matches("path: /A, ignore_case: true", "path: /A"), "f");
    EXPECT_TRUE(s.policy->routes.at(0).match.ignore_case);
    EXPECT_FALSE(s.policy->routes.at(1).match.ignore_case);
    EXPECT_EQ(s.policy->routes.at(0).name, "~/A");
    EXPECT_EQ(s.policy->routes.at(1).name, "/A");
    const std::string printed = print(s);
    EXPECT_THAT(printed, HasSubstr("ignore_case: true\n"));
    EXPECT_EQ(print(load_text(printed, "f")), printed);

    const std::string same = "routes[1]: matches the same requests as routes[0]";
    const auto of = [](const std::string& first, const std::string& second) {
        return problems_of(
            with_matches(first + ", ignore_case: true", second + ", ignore_case: true")
        );
    };
    EXPECT_THAT(of("path: /a", "path: /A/"), HasSubstr(same));
    EXPECT_THAT(of("path_exact: /a", "path_exact: /A"), HasSubstr(same));
    EXPECT_EQ(of("path_exact: /a", "path_exact: /a/"), "");
}

TEST(match, ignores_case_of_paths_in_ascii_only)
{
    const std::string last = ", ignore_case: true";
    EXPECT_THAT(
        problems_of(with_matches("host: h" + last, "path: /")),
        HasSubstr("routes[0].match.ignore_case: has no effect without \"path\"")
    );
    EXPECT_THAT(
        problems_of(with_matches("path: /caf%C3%A9" + last, "path: /")),
        HasSubstr("routes[0].match.ignore_case: knows the letters A to Z only")
    );
    EXPECT_EQ(problems_of(with_matches("path: /caf%C3%A9, ignore_case: false", "path: /")), "");
}

TEST(match, is_printed_as_it_may_be_written)
{
    const settings s =
        load_text(with_matches("scheme: http", "headers: { x-b: \"c d\", x-a: e }"), "f");
    const std::string printed = print(s);
    EXPECT_THAT(printed, HasSubstr("scheme: http\n"));
    EXPECT_THAT(printed, HasSubstr("headers: { x-a: e, x-b: \"c d\" }\n"));
    EXPECT_EQ(print(load_text(printed, "f")), printed);
}

TEST(match, keeps_secret_values_to_itself)
{
    ::setenv("GATEWAY_MATCH_TEST", "s3cret", 1);
    const settings s = load_text(
        with_matches("headers: { X-Origin: { env: GATEWAY_MATCH_TEST } }", "path: /"), "f"
    );
    ::unsetenv("GATEWAY_MATCH_TEST");
    EXPECT_EQ(s.policy->routes.at(0).match.headers.at(0).value, "s3cret");
    EXPECT_THAT(print(s), Not(HasSubstr("s3cret")));
}

}  // namespace match_test
}  // namespace gateway::config
