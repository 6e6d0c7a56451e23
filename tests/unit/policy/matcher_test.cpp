#include "gateway/policy/matcher.hpp"

#include "gateway/policy/paths/path.hpp"
#include "gateway/policy/paths/path_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace gateway::policy {
namespace matcher_test {

route to(const char* name, route_match match)
{
    return {.name = name, .match = std::move(match), .limits = {}, .upstream = 0};
}

std::string found(const std::vector<route>& routes, const routing_subject& subject)
{
    const auto index = matcher{routes}.find(subject);
    return index ? routes[*index].name : "nothing";
}

std::string by_path(const std::vector<route>& routes, const char* path)
{
    return found(routes, {.method = "GET", .host = "gw.test", .path = path});
}

TEST(matcher, without_routes_finds_nothing)
{
    EXPECT_EQ(matcher{}.find({.method = "GET", .host = "gw.test", .path = "/"}), std::nullopt);
    EXPECT_EQ(by_path({}, "/"), "nothing");
}

TEST(matcher, a_prefix_is_one_by_whole_segments)
{
    for (const char* prefix : {"/v1", "/v1/"}) {
        const std::vector<route> routes{
            to("v1", {.host = "", .path = prefix, .exact = false, .methods = {}})};
        for (const char* path : {"/v1", "/v1/", "/v1/x", "/v1/x/y"}) {
            EXPECT_EQ(by_path(routes, path), "v1") << path;
        }
        for (const char* path : {"/", "/v", "/v10", "/v10/x", "/V1", "/x/v1", "/v1x/", "*"}) {
            EXPECT_EQ(by_path(routes, path), "nothing") << path;
        }
    }
}

TEST(matcher, an_exact_path_is_itself_with_and_without_one_slash_at_its_end)
{
    for (const char* path : {"/v1", "/v1/"}) {
        const std::vector<route> routes{
            to("v1", {.host = "", .path = path, .exact = true, .methods = {}})};
        EXPECT_EQ(by_path(routes, "/v1"), "v1");
        EXPECT_EQ(by_path(routes, "/v1/"), "v1");
        for (const char* other : {"/v1/x", "/v", "/v1//", "/V1", "/", "*"}) {
            EXPECT_EQ(by_path(routes, other), "nothing") << other;
        }
    }
    const std::vector<route> root{
        to("root", {.host = "", .path = "/", .exact = true, .methods = {}})};
    EXPECT_EQ(by_path(root, "/"), "root");
    EXPECT_EQ(by_path(root, "/x"), "nothing");
    EXPECT_EQ(by_path(root, "*"), "nothing");
}

TEST(matcher, of_two_exact_paths_that_differ_in_a_slash_a_request_has_its_own)
{
    const std::vector<route> routes{
        to("bare", {.host = "", .path = "/v1", .exact = true, .methods = {"POST"}}),
        to("slash", {.host = "", .path = "/v1/", .exact = true, .methods = {}}),
        to("prefix", {.host = "", .path = "/v1", .exact = false, .methods = {}}),
        to("posts", {.host = "", .path = "/v2", .exact = true, .methods = {"POST"}}),
        to("other", {.host = "", .path = "/v2/", .exact = false, .methods = {}}),
    };
    const auto at = [&](const char* method, const char* path) {
        return found(routes, {.method = method, .host = "h", .path = path});
    };
    EXPECT_EQ(at("POST", "/v1"), "bare");
    EXPECT_EQ(at("POST", "/v1/"), "slash");
    EXPECT_EQ(at("GET", "/v1/"), "slash");
    EXPECT_EQ(at("GET", "/v1"), "slash") << "an exact path beats every prefix";
    EXPECT_EQ(at("GET", "/v1/x"), "prefix");
    EXPECT_EQ(at("POST", "/v2/"), "posts");
    EXPECT_EQ(at("GET", "/v2/"), "other");
}

route_match ignoring_case(const char* path, bool exact, std::vector<std::string> methods = {})
{
    route_match match{.host = "", .path = path, .exact = exact, .methods = std::move(methods)};
    match.ignore_case = true;
    return match;
}

TEST(matcher, ignores_the_case_of_letters_where_it_is_told_to)
{
    for (const char* path : {"/api/login", "/Api/LOGIN/"}) {
        for (const bool exact : {true, false}) {
            const std::vector<route> routes{to("login", ignoring_case(path, exact))};
            for (const char* spelling :
                 {"/api/login", "/API/LOGIN", "/api/Login/", "/aPi/logIn", "/ap\xc4\xb1/login"}) {
                EXPECT_EQ(by_path(routes, spelling), "login") << spelling;
            }
            for (const char* other : {"/api/logins", "/api", "/api/l\xc3\xb6gin", "/", "*"}) {
                EXPECT_EQ(by_path(routes, other), "nothing") << other;
            }
            EXPECT_EQ(by_path(routes, "/API/login/X"), exact ? "nothing" : "login");
        }
    }
}

TEST(matcher, the_case_of_letters_decides_after_path_methods_and_headers)
{
    const std::vector<route> routes{
        to("loose posts", ignoring_case("/login", true, {"POST"})),
        to("loose", ignoring_case("/login", true)),
        to("strict", {.host = "", .path = "/login", .exact = true, .methods = {}}),
        to("strict prefix", {.host = "", .path = "/a/b", .exact = false, .methods = {}}),
        to("loose prefix", ignoring_case("/A/B/c", false)),
        to("loose short", ignoring_case("/A", false)),
    };
    const auto at = [&](const char* method, const char* path) {
        return found(routes, {.method = method, .host = "h", .path = path});
    };
    EXPECT_EQ(at("POST", "/login"), "loose posts");
    EXPECT_EQ(at("GET", "/login"), "strict");
    EXPECT_EQ(at("GET", "/login/"), "strict");
    EXPECT_EQ(at("GET", "/Login"), "loose");
    EXPECT_EQ(at("GET", "/a/b"), "strict prefix");
    EXPECT_EQ(at("GET", "/a/b/C/d"), "loose prefix");
    EXPECT_EQ(at("GET", "/a/B"), "loose short");
}

// A path that does not fit into the memory for a folded one is no exact path, and has the prefix.
TEST(matcher, ignores_case_in_the_longest_paths)
{
    const std::string longest = "/" + std::string(max_match_path_bytes - 1, 'a');
    const std::string shouted = "/" + std::string(max_match_path_bytes - 1, 'A');
    const std::vector<route> exact{to("exact", ignoring_case(longest.c_str(), true))};
    const std::vector<route> prefix{to("prefix", ignoring_case(longest.c_str(), false))};
    for (const std::string ending : {"", "/"}) {
        EXPECT_EQ(by_path(exact, (shouted + ending).c_str()), "exact");
        EXPECT_EQ(by_path(prefix, (shouted + ending).c_str()), "prefix");
    }
    for (const std::string ending : {"A", "AA", "AAA", "A/"}) {
        EXPECT_EQ(by_path(exact, (shouted + ending).c_str()), "nothing");
        EXPECT_EQ(by_path(prefix, (shouted + ending).c_str()), "nothing");
    }
    for (const std::string ending : {"/x", "/xx", "/x/y"}) {
        EXPECT_EQ(by_path(exact, (shouted + ending).c_str()), "nothing");
        EXPECT_EQ(by_path(prefix, (shouted + ending).c_str()), "prefix");
    }
}

TEST(matcher, the_root_covers_every_path_but_the_asterisk)
{
    const std::vector<route> root{
        to("root", {.host = "", .path = "/", .exact = false, .methods = {}})};
    const std::vector<route> any{to("any", {})};
    for (const char* path : {"/", "/x", "/x/y"}) {
        EXPECT_EQ(by_path(root, path), "root");
        EXPECT_EQ(by_path(any, path), "any");
    }
    EXPECT_EQ(by_path(root, "*"), "nothing");
    EXPECT_EQ(by_path(any, "*"), "any");
}

TEST(matcher, methods_are_exact_and_none_means_all)
{
    const std::vector<route> routes{
        to("listed", {.host = "", .path = "/a", .exact = false, .methods = {"GET", "POST"}}),
        to("all", {.host = "", .path = "/a", .exact = false, .methods = {}}),
    };
    const auto by_method = [&](const char* method) {
        return found(routes, {.method = method, .host = "gw.test", .path = "/a"});
    };
    EXPECT_EQ(by_method("GET"), "listed");
    EXPECT_EQ(by_method("POST"), "listed");
    for (const char* method : {"get", "HEAD", "BREW", "", "GETS"}) {
        EXPECT_EQ(by_method(method), "all") << method;
    }
}

TEST(matcher, host_beats_path_beats_methods_whatever_the_order)
{
    std::vector<route> routes{
        to("any", {}),
        to("get", {.host = "", .path = "", .exact = false, .methods = {"GET"}}),
        to("short", {.host = "", .path = "/a", .exact = false, .methods = {"GET"}}),
        to("long", {.host = "", .path = "/a/b/", .exact = false, .methods = {}}),
        to("exact", {.host = "", .path = "/a/b", .exact = true, .methods = {}}),
        to("host", {.host = "gw.test", .path = "", .exact = false, .methods = {}}),
        to("host short", {.host = "gw.test", .path = "/a", .exact = false, .methods = {}}),
        to("host short post",
           {.host = "gw.test", .path = "/a", .exact = false, .methods = {"POST"}}),
        to("host exact", {.host = "gw.test", .path = "/x", .exact = true, .methods = {}}),
        to("host longer", {.host = "gw.test", .path = "/x/y/z", .exact = false, .methods = {}}),
    };
    std::mt19937 random{9};
    for (int order = 0; order < 200; ++order) {
        std::shuffle(routes.begin(), routes.end(), random);
        const auto at = [&](const char* method, const char* host, const char* path) {
            return found(routes, {.method = method, .host = host, .path = path});
        };
        EXPECT_EQ(at("GET", "gw.test", "/a/b"), "host short") << "host before the longer path";
        EXPECT_EQ(at("POST", "gw.test", "/a/b"), "host short post");
        EXPECT_EQ(at("GET", "gw.test", "/"), "host");
        EXPECT_EQ(at("GET", "gw.test", "/x"), "host exact");
        EXPECT_EQ(at("GET", "gw.test", "/x/y/z/1"), "host longer");
        EXPECT_EQ(at("GET", "gw.test", "/x/y"), "host");
        EXPECT_EQ(at("GET", "other", "/a/b"), "exact");
        EXPECT_EQ(at("GET", "other", "/a/b/"), "exact");
        EXPECT_EQ(at("GET", "other", "/a/b/c"), "long") << "path before methods";
        EXPECT_EQ(at("GET", "other", "/a/bc"), "short");
        EXPECT_EQ(at("PUT", "other", "/a/bc"), "any");
        EXPECT_EQ(at("GET", "other", "/"), "get");
        EXPECT_EQ(at("PUT", "gw.test.evil", "/"), "any");
        EXPECT_EQ(at("PUT", "", "/"), "any");
    }
}

TEST(matcher, a_wildcard_is_for_hosts_that_end_so)
{
    const auto of = [](const char* host, const char* path = "") {
        return route_match{.host = host, .path = path, .exact = false, .methods = {}};
    };
    const std::vector<route> routes{
        to("any", of("")),
        to("wide", of("*.example.com")),
        to("narrow", of("*.b.example.com", "/x")),
        to("itself", of("a.b.example.com", "/x/y")),
    };
    const auto at = [&](const char* host, const char* path = "/") {
        return found(routes, {.method = "GET", .host = host, .path = path});
    };
    EXPECT_EQ(at("a.example.com"), "wide");
    EXPECT_EQ(at("d.c.b.example.com"), "wide");
    EXPECT_EQ(at("a.b.example.com", "/x"), "narrow") << "its own routes have another path";
    EXPECT_EQ(at("a.b.example.com", "/x/y"), "itself");
    EXPECT_EQ(at("d.a.b.example.com", "/x/y"), "narrow");
    EXPECT_EQ(at("b.example.com", "/x"), "wide") << "no label in front";
    for (const char* host :
         {"example.com", ".example.com", "aexample.com", "a.example.com.evil", "com", "", "."}) {
        EXPECT_EQ(at(host), "any") << host;
    }
    const std::string long_host = std::string(20'000, '.') + "a.example.com";
    EXPECT_EQ(at(long_host.c_str()), "wide");
}

http::field said(std::string_view name, std::string_view value)
{
    return {.id = http::classify(name), .name = name, .value = value, .line = {}};
}

route_match with_headers(std::vector<header_match> headers, const char* path = "")
{
    return {.host = "", .path = path, .exact = false, .methods = {}, .headers = std::move(headers)};
}

TEST(matcher, headers_have_exact_values_and_more_of_them_win)
{
    const std::vector<route> routes{
        to("none", {}),
        to("env", with_headers({{"env", "a"}})),
        to("both", with_headers({{"env", "a"}, {"tier", "b"}})),
        to("put", {.host = "", .path = "", .exact = false, .methods = {"PUT"}}),
        to("longer", with_headers({{"env", "c"}}, "/x")),
    };
    const auto with =
        [&](std::vector<http::field> fields, const char* method = "GET", const char* path = "/x") {
            return found(routes, {.method = method, .host = "h", .path = path, .fields = fields});
        };
    EXPECT_EQ(with({}), "none");
    EXPECT_EQ(with({said("env", "A")}), "none");
    EXPECT_EQ(with({said("ENV", "a")}), "env");
    EXPECT_EQ(with({said("env", "a"), said("Env", "a")}), "none") << "which one is meant?";
    EXPECT_EQ(with({said("env_", "a")}), "none");
    EXPECT_EQ(with({said("env", "a"), said("tier", "c")}), "env");
    EXPECT_EQ(with({said("tier", "b"), said("x", "y"), said("env", "a")}), "both");
    EXPECT_EQ(with({said("env", "a"), said("tier", "b")}, "PUT"), "put") << "methods count more";
    EXPECT_EQ(with({said("env", "c")}), "longer");
    EXPECT_EQ(with({said("env", "c")}, "GET", "/y"), "none");
    EXPECT_EQ(with({said("env", std::string(5000, 'a'))}), "none");
}

// Values that run together must not be taken for others.
TEST(matcher, headers_are_told_apart)
{
    const std::vector<route> routes{to("ab c", with_headers({{"a", "ab"}, {"b", "c"}}))};
    const auto with = [&](const char* a, const char* b) {
        const std::vector<http::field> fields{said("a", a), said("b", b)};
        return found(routes, {.method = "GET", .host = "h", .path = "/", .fields = fields});
    };
    EXPECT_EQ(with("ab", "c"), "ab c");
    EXPECT_EQ(with("a", "bc"), "nothing");
    EXPECT_EQ(with("c", "ab"), "nothing");
    EXPECT_EQ(with("", "abc"), "nothing");
}

TEST(matcher, a_scheme_comes_before_all_else)
{
    const std::vector<route> routes{
        to("host", {.host = "h", .path = "/x", .exact = true, .methods = {"GET"}}),
        to("plain",
           {.host = "",
            .path = "",
            .exact = false,
            .methods = {},
            .headers = {},
            .scheme = url_scheme::http}),
        to("challenge",
           {.host = "",
            .path = "/.well-known",
            .exact = false,
            .methods = {},
            .headers = {},
            .scheme = url_scheme::http}),
    };
    EXPECT_TRUE(matcher{routes}.reads_schemes());
    EXPECT_FALSE(matcher{std::span{routes}.first(1)}.reads_schemes());
    const auto at = [&](bool secure, const char* path) {
        return found(routes, {.method = "GET", .host = "h", .path = path, .secure = secure});
    };
    EXPECT_EQ(at(true, "/x"), "host");
    EXPECT_EQ(at(true, "/y"), "nothing");
    EXPECT_EQ(at(false, "/x"), "plain");
    EXPECT_EQ(at(false, "/.well-known/a"), "challenge");
}

// As many routes as a configuration may have.
TEST(matcher, finds_one_of_ten_thousand_by_a_header)
{
    constexpr std::size_t count = 10'000;
    std::vector<route> routes;
    for (std::size_t i = 0; i < count; ++i) {
        routes.push_back(to("one", with_headers({{"x-tenant", std::to_string(i)}})));
    }
    const matcher index{routes};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        const std::vector<http::field> fields{said("X-Tenant", number)};
        ASSERT_EQ(index.find({"GET", "h", "/x", false, fields}), i);
    }
}

TEST(matcher, of_equals_the_first_declared_wins)
{
    const std::vector<route> routes{
        to("first", {.host = "", .path = "/a", .exact = false, .methods = {"GET"}}),
        to("second", {.host = "", .path = "/a/", .exact = false, .methods = {"GET", "PUT"}}),
    };
    EXPECT_EQ(by_path(routes, "/a/x"), "first");
    EXPECT_EQ(found(routes, {.method = "PUT", .host = "gw.test", .path = "/a/x"}), "second");
}

// The rules as plainly as they can be written: every route is looked at, in order of precedence.
std::string found_one_by_one(std::vector<route> routes, const routing_subject& subject)
{
    const auto covers = [&subject](const route_match& m) {
        const std::string prefix = compared_path(m);
        const std::string path =
            m.ignore_case ? folded_case(subject.path) : std::string{subject.path};
        if (m.exact || prefix.empty()) {
            return !m.exact || without_final_slash(prefix) == without_final_slash(path);
        }
        const std::string rest = path.substr(std::min(prefix.size(), path.size()));
        return path.starts_with(prefix) && (prefix == "/" || rest.empty() || rest.front() == '/');
    };
    const auto segments = [](const route_match& m) {
        const std::string path = compared_path(m);
        return path.size() < 2 ? static_cast<std::ptrdiff_t>(path.size())
                               : 1 + std::count(path.begin(), path.end(), '/');
    };
    const auto precedence = [&](const route& r) {
        return std::tuple{
            r.match.scheme != url_scheme::any,
            !r.match.host.empty() && !r.match.host.starts_with('*'),
            r.match.host.size(),
            r.match.exact,
            r.match.exact && r.match.path.ends_with('/') == subject.path.ends_with('/'),
            r.match.exact ? 0 : segments(r.match),
            !r.match.methods.empty(),
            r.match.headers.size(),
            !r.match.ignore_case};
    };
    std::stable_sort(routes.begin(), routes.end(), [&](const route& a, const route& b) {
        return precedence(a) > precedence(b);
    });
    for (const route& r : routes) {
        const auto& methods = r.match.methods;
        const bool method =
            methods.empty() ||
            std::find(methods.begin(), methods.end(), subject.method) != methods.end();
        const std::string_view ending =
            std::string_view{r.match.host}.substr(r.match.host.starts_with('*') ? 1 : 0);
        const bool host =
            ending.size() < r.match.host.size()
                ? subject.host.size() > ending.size() && subject.host.ends_with(ending)
                : ending.empty() || ending == subject.host;
        const auto has = [&subject](const header_match& h) {
            return std::any_of(
                subject.fields.begin(),
                subject.fields.end(),
                [&h](const http::field& f) { return f.name == h.name && f.value == h.value; }
            );
        };
        const bool headers = std::all_of(r.match.headers.begin(), r.match.headers.end(), has);
        const bool scheme = r.match.scheme == url_scheme::any ||
                            (r.match.scheme == url_scheme::https) == subject.secure;
        if (scheme && host && covers(r.match) && method && headers) {
            return r.name;
        }
    }
    return "nothing";
}

TEST(matcher, finds_what_looking_at_every_route_finds)
{
    std::mt19937 random{11};
    const auto one_of = [&random](std::initializer_list<const char*> all) {
        return std::string{all.begin()[random() % all.size()]};
    };
    const auto path = [&] {
        std::string p = one_of({"", "/", "/", "/"});
        for (std::size_t segments = p.empty() ? 0 : random() % 4; segments > 0; --segments) {
            p += one_of({"a", "b", "ab", "A", "aB", ""}) + one_of({"/", "/", ""});
        }
        while (p.find("//") != std::string::npos) {
            p.erase(p.find("//"), 1);
        }
        return p;
    };
    for (int round = 0; round < 3000; ++round) {
        std::vector<route> routes;
        for (std::size_t count = random() % 12; count > 0; --count) {
            route_match m{one_of({"", "h", "a.h", "*.h", "*.a.h"}), path(), random() % 3 == 0, {}};
            for (const char* name : {"a", "b"}) {
                if (random() % 4 == 0) {
                    m.headers.push_back({name, one_of({"1", "2"})});
                }
            }
            if (random() % 4 == 0) {
                m.scheme = random() % 2 == 0 ? url_scheme::http : url_scheme::https;
            }
            if (random() % 3 == 0) {
                m.methods = {one_of({"GET", "PUT"})};
            }
            m.ignore_case = !m.path.empty() && random() % 3 == 0;
            routes.push_back({"r" + std::to_string(count), std::move(m), {}, 0});
        }
        const matcher index{routes};
        for (int looks = 0; looks < 10; ++looks) {
            const std::string method = one_of({"GET", "PUT", "get"});
            const std::string host = one_of({"", "h", "a.h", "b.h", "b.a.h", "ah", "j"});
            const std::string own = path();
            const std::string asked = random() % 20 == 0     ? "*"
                                      : own.starts_with('/') ? own
                                                             : "/" + own;
            const std::vector<std::string> values{one_of({"1", "2", "3"}), one_of({"1", "2", ""})};
            const std::vector<http::field> fields{said("a", values[0]), said("b", values[1])};
            const routing_subject subject{method, host, asked, random() % 2 == 0, fields};
            const auto at = index.find(subject);
            ASSERT_EQ(at ? routes[*at].name : "nothing", found_one_by_one(routes, subject))
                << method << " " << host << " " << asked;
        }
    }
}

}  // namespace matcher_test
}  // namespace gateway::policy
