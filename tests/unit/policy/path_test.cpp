#include "gateway/policy/paths/path.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace gateway::policy {
namespace path_test {

std::optional<std::string> normal(std::string_view path)
{
    std::string room = "left over";
    const normalised_path found = normalise_path(path, room);
    EXPECT_EQ(found.path.empty(), !found.refused_because.empty()) << path;
    return found.refused_because.empty() ? std::optional{std::string(found.path)} : std::nullopt;
}

std::string_view refusal_of(std::string_view path)
{
    std::string room;
    return normalise_path(path, room).refused_because;
}

struct spelling {
    const char* path;
    const char* normal;
};

class spelled : public testing::TestWithParam<spelling> {};

TEST_P(spelled, is_matched_as)
{
    EXPECT_EQ(normal(GetParam().path), GetParam().normal) << GetParam().path;
}

INSTANTIATE_TEST_SUITE_P(
    plain,
    spelled,
    testing::Values(
        spelling{"/", "/"},
        spelling{"/api/login", "/api/login"},
        spelling{"/api/login/", "/api/login/"},
        spelling{"/API/Login", "/API/Login"},
        spelling{"/api/login.", "/api/login."},
        spelling{"/a/...", "/a/..."},
        spelling{"/..a/.b/c..", "/..a/.b/c.."},
        spelling{"/a b", "/a b"},
        spelling{"/a=b&c@d:e", "/a=b&c@d:e"},
        spelling{"/log\xc3\xadn", "/log\xc3\xadn"},
        spelling{"/\xff\x80", "/\xff\x80"}
    )
);

INSTANTIATE_TEST_SUITE_P(
    slashes_and_dots,
    spelled,
    testing::Values(
        spelling{"//", "/"},
        spelling{"//api///login", "/api/login"},
        spelling{"/api/login//", "/api/login/"},
        spelling{"/./api/./login", "/api/login"},
        spelling{"/api/login/.", "/api/login/"},
        spelling{"/.", "/"},
        spelling{"/a//./", "/a/"}
    )
);

INSTANTIATE_TEST_SUITE_P(
    encodings,
    spelled,
    testing::Values(
        spelling{"/api/%6cogin", "/api/login"},
        spelling{"/%61%50%49/%6Cogin", "/aPI/login"},
        spelling{"/api/%2e/login", "/api/login"},
        spelling{"/api/login/%2e", "/api/login/"},
        spelling{"/api%2Flogin", "/api/login"},
        spelling{"/api%2f%2Flogin", "/api/login"},
        spelling{"/api%5Clogin", "/api/login"},
        spelling{"/%2fapi/login%2F", "/api/login/"},
        spelling{"/projects/group%2Fname/files/a%2fb", "/projects/group/name/files/a/b"},
        spelling{"/a%20b", "/a b"},
        spelling{"/caf%C3%A9", "/caf\xc3\xa9"},
        spelling{"/api/%256cogin", "/api/%256cogin"},
        spelling{"/50%25", "/50%25"},
        spelling{"/%252e%252e/x", "/%252e%252e/x"},
        spelling{"/%2500", "/%2500"},
        spelling{"/a%3fb%23c", "/a%3Fb%23c"}
    )
);

INSTANTIATE_TEST_SUITE_P(
    parameters,
    spelled,
    testing::Values(
        spelling{"/api/login;jsessionid=1", "/api/login"},
        spelling{"/api;v=1/login", "/api/login"},
        spelling{"/api/login;a;b=c;", "/api/login"},
        spelling{"/api/login;a/", "/api/login/"},
        spelling{"/api/;x/login", "/api/login"},
        spelling{"/;x", "/"},
        spelling{"/api/login%3Bx=1", "/api/login"},
        spelling{"/api/login;%6c%25", "/api/login"},
        spelling{"/api%2Flogin;x/y", "/api/login/y"},
        spelling{"/api;../login", "/api/login"},
        spelling{"/api/;../login", "/api/login"},
        spelling{"/api;a=%252Fb/login", "/api/login"},
        spelling{"/api/%253Bx", "/api/%253Bx"}
    )
);

TEST(normalise_path, refuses_what_servers_disagree_about_and_says_why)
{
    struct row {
        std::string_view why;
        std::vector<const char*> paths;
    };

    const row rows[] = {
        {"the path does not begin with a slash", {"", "*", "api", "http://a/", "\\a"}},
        {"the path has a malformed percent-encoding",
         {"/%", "/%4", "/%4g", "/%g4", "/a%", "/a%2", "/a;%", "/a;%0", "/%%41", "/%u002e"}},
        {"the path has a control byte", {"/a%00", "/a;%0a", "/%7F", "/a\tb", "/..%00/b"}},
        {"the path has an overlong UTF-8 sequence, which some servers decode to another character",
         {"/api%c0%aflogin",
          "/%C0%6F",
          "/%c1%a1pi",
          "/a;%c1%9c",
          "/%e0%80%af",
          "/%E0%9F%BF",
          "/%f0%80%80%af",
          "/%f0%8f%bf%bf",
          "/%f8%80%80%80%af",
          "/%fc%80%80%80%80%af"}},
        {"the path has a backslash, ? or # that is not percent-encoded",
         {"/a/\\b", "/a\\..\\b", "/a#b", "/a?b"}},
        {"the path has a .. segment, which clients resolve before they send",
         {"/..",        "/../",         "/a/..",         "/a/../b",     "/a/../..",    "/../a",
          "/%2e%2e/a",  "/a/.%2E/b",    "/a/%2e./b",     "/./..",       "/a//..",      "//../b",
          "/a//b/../c", "/a/;x/../b",   "/a;x/../b",     "/a/..;/b",    "/a/..;x=1/b", "/a/..;",
          "/a/..%3B/b", "/a/%2e%2e;/b", "/a/..%2Fb",     "/a%2F../b",   "/a%2F..%2Fb", "/a%2F..",
          "/a/..%5Cb",  "/a%5C..",      "/a%5C%2e%2e/b", "/x%2Fy/../b", "/x%5Cy/../b", "/a/..;%2Fb",
          "/a/.%2e%3bx"}},
        {"the path has a . segment with parameters or beside an encoded separator",
         {"/a/.;/b", "/a/.%3Bx", "/a/.%2Fb", "/a%2F.", "/a%5c%2e/b"}},
        {"the path has an encoded separator (%2F or %5C) inside a parameter",
         {"/api;a=%2Fb/login",
          "/api;%5Cx/login",
          "/api;%2f",
          "/api%3Bx%2fb/login",
          "/api;x%3B%5cb/login",
          "/x;%2Fq/login",
          "/x;%2F%2F",
          "/;%2Fx",
          "/a%2Fb;%2Fc",
          "/a;%2F../b",
          "/a/.;x%2Fb"}},
    };
    for (const row& r : rows) {
        for (const char* path : r.paths) {
            EXPECT_EQ(refusal_of(path), r.why) << path;
            EXPECT_EQ(normal(path), std::nullopt) << path;
        }
    }
}

TEST(normalise_path, passes_utf_8_that_is_not_overlong)
{
    for (const char* path :
         {"/%C2%80", "/caf%C3%A9", "/%E0%A0%80", "/%E2%82%AC", "/%F0%90%80%80", "/%F0%9F%98%80"}) {
        EXPECT_EQ(refusal_of(path), "") << path;
    }
}

TEST(normalise_path, refuses_control_bytes_and_overlong_leads_raw_and_encoded)
{
    for (int byte = 0; byte < 256; ++byte) {
        const bool control = byte < 0x20 || byte == 0x7f;
        const bool overlong = byte == 0xc0 || byte == 0xc1;
        const std::string raw{static_cast<char>(byte)};
        const std::string hex = {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
        for (const std::string where : {"/a", "/a;"}) {
            EXPECT_EQ(
                normal(where + raw + "b").has_value(),
                !control && !overlong &&
                    std::string_view{"%\\?#"}.find(raw) == std::string_view::npos
            ) << byte;
            const bool separator = where == "/a;" && (byte == '/' || byte == '\\');
            EXPECT_EQ(
                normal(where + "%" + hex + "b").has_value(), !control && !overlong && !separator
            ) << byte;
        }
    }
}

TEST(normalise_path, an_encoded_ordinary_byte_is_that_byte)
{
    for (int byte = 0x20; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        if (byte == 0x7f || std::string_view{"%?#\\"}.find(c) != std::string_view::npos) {
            continue;
        }
        const std::string hex = {"0123456789ABCDEF"[byte / 16], "0123456789ABCDEF"[byte % 16]};
        EXPECT_EQ(normal("/a%" + hex + "b"), normal(std::string{"/a"} + c + "b")) << byte;
    }
}

TEST(normalise_path, random_paths_come_out_clean_and_stay_as_they_are)
{
    std::mt19937 random{31};
    constexpr std::string_view pieces[] = {
        "/",
        "/",
        "/",
        ".",
        "..",
        "a",
        "b",
        ";",
        "%2f",
        "%2e",
        "%25",
        "%3b",
        "%5C",
        "%3f",
        "//",
        "%41"};
    int accepted = 0;
    for (int i = 0; i < 200000; ++i) {
        std::string path = "/";
        for (std::size_t n = random() % 10; n > 0; --n) {
            path += pieces[random() % std::size(pieces)];
        }
        const auto once = normal(path);
        if (!once) {
            continue;
        }
        ++accepted;
        ASSERT_TRUE(once->starts_with('/')) << path;
        ASSERT_LE(once->size(), path.size()) << path;
        const std::string walled = *once + "/";
        for (const char* bad : {"/./", "/../", ";", "\\"}) {
            ASSERT_EQ(walled.find(bad), std::string::npos) << path << " " << *once;
        }
        ASSERT_EQ(once->find("//"), std::string::npos) << path << " " << *once;
        ASSERT_EQ(normal(*once), once) << path;
    }
    EXPECT_GT(accepted, 50000);
}

TEST(normalise_host, is_lower_case_without_port_and_trailing_dot)
{
    const std::pair<const char*, const char*> cases[] = {
        {"gw.test", "gw.test"},
        {"GW.Test", "gw.test"},
        {"gw.test:8080", "gw.test"},
        {"gw.test:", "gw.test"},
        {"gw.test.", "gw.test"},
        {"GW.TEST.:443", "gw.test"},
        {"127.0.0.1:80", "127.0.0.1"},
        {"[2001:DB8::1]", "[2001:db8::1]"},
        {"[2001:db8::1]:443", "[2001:db8::1]"},
        {"[2001:db8:0::0001]", "[2001:db8::1]"},
        {"", ""},
        {":80", ""},
        {".", ""},
    };
    std::string out = "left over";
    for (const auto& [host, expected] : cases) {
        normalise_host(host, out);
        EXPECT_EQ(out, expected) << host;
    }
}

}  // namespace path_test
}  // namespace gateway::policy
