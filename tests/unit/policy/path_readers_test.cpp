// What servers make of a path, against what we match it by. Some drop parameters before they decode
// (servlet containers), some after, most know none; some merge slashes; some take '\' for '/'.
#include "gateway/base/hex.hpp"
#include "gateway/policy/matcher.hpp"
#include "gateway/policy/paths/path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace gateway::policy {
namespace path_readers_test {

std::vector<std::string> split(const std::string& path)
{
    std::vector<std::string> segments{""};
    for (const char c : path.substr(1)) {
        if (c == '/') {
            segments.emplace_back();
        } else {
            segments.back() += c;
        }
    }
    return segments;
}

std::string join(const std::vector<std::string>& segments)
{
    std::string path;
    for (const std::string& segment : segments) {
        path += '/' + segment;
    }
    return path;
}

std::string without_parameters(const std::string& path)
{
    std::vector<std::string> segments = split(path);
    for (std::string& segment : segments) {
        segment = segment.substr(0, segment.find(';'));
    }
    return join(segments);
}

std::string decoded(std::string_view path)
{
    std::string out;
    while (!path.empty()) {
        const int byte = base::percent_encoded(path);
        out += byte < 0 ? path.front() : static_cast<char>(byte);
        path.remove_prefix(byte < 0 ? 1 : 3);
    }
    return out;
}

// RFC 3986 §5.2.4.
std::string without_dots(const std::string& path)
{
    std::vector<std::string> kept;
    const std::vector<std::string> segments = split(path);
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool dots = segments[i] == "." || segments[i] == "..";
        if (segments[i] == ".." && !kept.empty()) {
            kept.pop_back();
        }
        if (!dots) {
            kept.push_back(segments[i]);
        } else if (i + 1 == segments.size()) {
            kept.emplace_back();
        }
    }
    return join(kept);
}

std::string without_empty_segments(const std::string& path)
{
    std::vector<std::string> segments = split(path);
    const auto before_last = segments.end() - 1;
    segments.erase(std::remove(segments.begin(), before_last, ""), before_last);
    return join(segments);
}

struct reader {
    enum class parameters { dropped_before_decoding, dropped_after_decoding, ordinary };
    parameters treated = parameters::ordinary;
    bool merges_slashes = false;
    bool knows_backslashes = false;

    std::string read(std::string path) const
    {
        if (treated == parameters::dropped_before_decoding) {
            path = without_parameters(path);
        }
        path = decoded(path);
        if (knows_backslashes) {
            std::replace(path.begin(), path.end(), '\\', '/');
        }
        if (treated == parameters::dropped_after_decoding) {
            path = without_parameters(path);
        }
        if (merges_slashes) {
            path = without_empty_segments(path);
        }
        return without_dots(path);
    }
};

std::vector<reader> all_readers()
{
    using parameters = reader::parameters;
    std::vector<reader> all;
    for (const auto treated :
         {parameters::dropped_before_decoding,
          parameters::dropped_after_decoding,
          parameters::ordinary}) {
        for (const bool merges : {false, true}) {
            for (const bool knows : {false, true}) {
                all.push_back({treated, merges, knows});
            }
        }
    }
    return all;
}

// /api/login with a few other pieces before, between and behind its own.
class generated_paths {
public:
    std::string next()
    {
        std::string path = "/";
        for (const std::string_view own : {"api", "/", "login", ""}) {
            for (std::size_t n = random_() % 4; n > 0; --n) {
                path += pieces_[random_() % pieces_.size()];
            }
            path += own;
        }
        return path;
    }

private:
    std::mt19937 random_{47};
    static constexpr std::array<std::string_view, 18> pieces_{
        "/",
        "/",
        "/",
        "//",
        ".",
        "./",
        "..",
        ";",
        "%3B",
        "%2F",
        "%5C",
        "%2e",
        "x",
        "a=b",
        "%25",
        "%252F",
        "/api",
        "/login"};
};

constexpr int paths = 10'000;

bool is_under_login(std::string_view path)
{
    return path == "/api/login" || path.starts_with("/api/login/");
}

TEST(path_readers, what_any_server_reads_under_a_limited_prefix_is_matched_there)
{
    std::vector<route> routes(2);
    routes[0].match.path = "/api/login";
    const matcher find_route(routes);
    const std::vector<reader> readers = all_readers();
    std::vector<int> landed(readers.size());
    generated_paths generated;
    std::string room;
    for (int i = 0; i < paths; ++i) {
        const std::string path = generated.next();
        const normalised_path ours = normalise_path(path, room);
        if (!ours.refused_because.empty()) {
            continue;
        }
        for (std::size_t r = 0; r < readers.size(); ++r) {
            if (is_under_login(readers[r].read(path))) {
                ++landed[r];
                ASSERT_EQ(find_route.find({"POST", "", ours.path}), 0U) << path << " reader " << r;
            }
        }
    }
    EXPECT_GT(*std::min_element(landed.begin(), landed.end()), 100);
}

TEST(path_readers, what_any_server_reads_as_one_path_is_one_key)
{
    const std::vector<reader> readers = all_readers();
    std::vector<std::map<std::string, std::string>> keys(readers.size());
    generated_paths generated;
    std::string room;
    int spelled_again = 0;
    for (int i = 0; i < paths; ++i) {
        const std::string path = generated.next();
        const normalised_path ours = normalise_path(path, room);
        if (!ours.refused_because.empty()) {
            continue;
        }
        for (std::size_t r = 0; r < readers.size(); ++r) {
            const auto [known, is_new] = keys[r].emplace(readers[r].read(path), ours.path);
            ASSERT_EQ(known->second, ours.path) << path << " reader " << r << " " << known->first;
            spelled_again += is_new ? 0 : 1;
        }
    }
    EXPECT_GT(spelled_again, paths);
}

}  // namespace path_readers_test
}  // namespace gateway::policy
