#include "gateway/policy/paths/path_prefix.hpp"

#include "gateway/policy/paths/path.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gateway::policy {
namespace path_prefix_test {

std::string past(std::string_view path, std::string_view prefix)
{
    const path_rest rest = past_prefix(path, prefix);
    return (rest.separated ? "/" : "=") + std::string(rest.text);
}

TEST(path_prefix, what_is_behind_it_stays_as_it_came)
{
    struct row {
        std::string_view path, prefix, rest;
    };

    const std::vector<row> rows = {
        {"/api", "/api", "="},
        {"/api/", "/api", "/"},
        {"/api/x", "/api", "/x"},
        {"/api/%7Ex/./y;z=1//", "/api", "/%7Ex/./y;z=1//"},
        {"/api/v1/x", "/api/v1", "/x"},
        {"/x", "", "/x"},
        {"/", "", "/"},
        // No host is made of what is behind it.
        {"/api//evil.test/x", "/api", "/evil.test/x"},
        {"/api///", "/api", "/"},
        {"/api%2F%2fevil.test", "/api", "/evil.test"},
        {"/api/%5Cevil.test", "/api", "/evil.test"},
        {"/api%5c/x", "/api", "/x"},
        // However it is spelt.
        {"/%61pi/x", "/api", "/x"},
        {"/./api/x", "/api", "/x"},
        {"//api//v1/x", "/api/v1", "/x"},
        {"/api;v=1/x;y=2", "/api", "/x;y=2"},
        {"/api%3Bv=1", "/api", "="},
        {"/api%2Fv1%2Fx", "/api/v1", "/x"},
        {"/a%25b/x", "/a%25b", "/x"},
        {"/a%20b/x", "/a b", "/x"},
    };
    for (const row& r : rows) {
        EXPECT_EQ(past(r.path, r.prefix), r.rest) << r.path;
    }
}

// A search that began anew at each of these would not end.
TEST(path_prefix, is_found_behind_a_million_segments_that_are_nothing)
{
    for (const std::string_view nothing : {"/", "/;a", "/.", "%2F"}) {
        std::string path = "/./";
        for (int i = 0; i < 1'000'000; ++i) {
            path += nothing;
        }
        path += "/api/x";
        EXPECT_EQ(past(path, "/api"), "/x") << nothing;
    }
}

// Of whatever is made of these pieces: the prefix of the normal form and the normal form of the
// rest are the normal form of the whole.
TEST(path_prefix, and_the_rest_are_the_whole_path)
{
    const std::vector<std::string_view> pieces = {"/", "%2F", "%5c", "a", "%61", ".", ";x", "%20"};
    std::size_t seen = 0;
    for (std::size_t n = 0; n < 8 * 8 * 8 * 8 * 8; ++n) {
        std::string path = "/";
        for (std::size_t rest = n, i = 0; i < 5; ++i, rest /= 8) {
            path += pieces[rest % 8];
        }
        std::string room;
        const normalised_path whole = normalise_path(path, room);
        if (!whole.refused_because.empty()) {
            continue;
        }
        const std::string_view normal = whole.path;
        for (std::size_t end = normal.find('/', 1);; end = normal.find('/', end + 1)) {
            const std::string_view prefix = normal.substr(0, end);
            if (prefix == "/") {
                break;  // no segment
            }
            const path_rest rest = past_prefix(path, prefix);
            EXPECT_FALSE(rest.text.starts_with('/'));
            const std::string from_slash = "/" + std::string(rest.text);
            std::string rest_room;
            const normalised_path behind = normalise_path(from_slash, rest_room);
            EXPECT_TRUE(behind.refused_because.empty()) << path << ' ' << prefix;
            const std::string_view expected =
                end == std::string_view::npos ? std::string_view{"/"} : normal.substr(end);
            EXPECT_EQ(behind.path, expected) << path << ' ' << prefix;
            ++seen;
            if (end == std::string_view::npos) {
                break;
            }
        }
    }
    EXPECT_GT(seen, 10'000U);
}

}  // namespace path_prefix_test
}  // namespace gateway::policy
