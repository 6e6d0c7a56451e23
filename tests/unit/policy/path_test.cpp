#include "gateway/policy/path.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace gateway::policy {
namespace {

std::optional<std::string> normal(std::string_view path)
{
    std::string room = "left over";
    const auto normalised = normalise_path(path, room);
    return normalised ? std::optional{std::string(*normalised)} : std::nullopt;
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
        spelling{"/api/x/../login", "/api/login"},
        spelling{"/api/login/..", "/api/"},
        spelling{"/a/..", "/"},
        spelling{"/a/b/../../login", "/login"},
        spelling{"/a/./../login", "/login"},
        spelling{"/a/..//login", "/login"},
        spelling{"/a/../.", "/"}
    )
);

INSTANTIATE_TEST_SUITE_P(
    encodings,
    spelled,
    testing::Values(
        spelling{"/api/%6cogin", "/api/login"},
        spelling{"/%61%50%49/%6Cogin", "/aPI/login"},
        spelling{"/api/%2e/login", "/api/login"},
        spelling{"/api/x/%2E%2e/login", "/api/login"},
        spelling{"/api/x/.%2e/login", "/api/login"},
        spelling{"/api/login/%2e", "/api/login/"},
        spelling{"/api%2Flogin", "/api/login"},
        spelling{"/api%2f%2Flogin", "/api/login"},
        spelling{"/api%5Clogin", "/api/login"},
        spelling{"/%2fapi/login%2F", "/api/login/"},
        spelling{"/a%20b", "/a b"},
        spelling{"/caf%C3%A9", "/caf\xc3\xa9"},
        spelling{"/api/%256cogin", "/api/%256cogin"},
        spelling{"/50%25", "/50%25"},
        spelling{"/%252e%252e/x", "/%252e%252e/x"},
        spelling{"/%2500", "/%2500"},
        spelling{"/a%3fb%23c", "/a%3Fb%23c"},
        spelling{"/%c0%af", "/\xc0\xaf"}
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
        spelling{"/api/login;%6c%25", "/api/login"}
    )
);

TEST(normalise_path, refuses_what_backends_disagree_about)
{
    for (const char* path : {"",           "*",           "api",          "http://a/",
                             "/%",         "/%4",         "/%4g",         "/%g4",
                             "/a%",        "/a%2",        "/a;%",         "/a;%0",
                             "/%%41",      "/..",         "/../",         "/a/../..",
                             "/a/../../b", "/%2e%2e/a",   "/./..",        "/a/\\b",
                             "\\a",        "/a\\..\\b",   "/a#b",         "/a?b",
                             "/a//..",     "/a//../b",    "//../b",       "/a/;x/../b",
                             "/a//b/../c", "/a/..;/b",    "/a/..;x=1/b",  "/a/.;/b",
                             "/a/..;",     "/a/..%3B/b",  "/a/%2e%2e;/b", "/a/..%2Fb",
                             "/a%2F../b",  "/a%2F..%2Fb", "/a/.%2Fb",     "/a%2F.",
                             "/a%2F..",    "/a/..%5Cb",   "/a%5C..",      "/a%5C%2e%2e/b"}) {
        EXPECT_EQ(normal(path), std::nullopt) << path;
    }
}

TEST(normalise_path, refuses_control_bytes_raw_and_encoded)
{
    for (int byte = 0; byte < 256; ++byte) {
        const bool control = byte < 0x20 || byte == 0x7f;
        const std::string raw{static_cast<char>(byte)};
        const std::string hex = {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
        for (const std::string where : {"/a", "/a;"}) {
            EXPECT_EQ(
                normal(where + raw + "b").has_value(),
                !control && std::string_view{"%\\?#"}.find(raw) == std::string_view::npos
            ) << byte;
            EXPECT_EQ(normal(where + "%" + hex + "b").has_value(), !control) << byte;
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

}  // namespace
}  // namespace gateway::policy
