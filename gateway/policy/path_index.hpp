// The routes of one host, found by path: an exact path first, then the longest prefix by whole
// segments. What a look costs depends on the path that is looked for, not on how many there are.
#pragma once

#include "gateway/policy/path_routes.hpp"
#include "gateway/policy/route.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gateway::policy {

// The path of a match as it is compared: the prefixes "/v1" and "/v1/" are one.
std::string_view compared_path(const route_match& match);

class path_index {
public:
    // In the order of declaration. The match's host is not looked at.
    void add(const route_match& match, std::size_t index);

    // The subject's host and scheme are not looked at. Nothing: none of these.
    std::optional<std::size_t> find(const routing_subject& subject) const;

private:
    // A path beside its hash, which a look computes for all prefixes in one pass.
    struct hashed_path {
        std::string_view path;
        std::uint64_t hash;
    };

    struct hasher {
        using is_transparent = void;

        std::size_t operator()(const hashed_path& p) const { return p.hash; }

        std::size_t operator()(const std::string& path) const;
    };

    struct equal {
        using is_transparent = void;

        bool operator()(const std::string& a, const std::string& b) const { return a == b; }

        bool operator()(const hashed_path& a, const std::string& b) const { return a.path == b; }

        bool operator()(const std::string& a, const hashed_path& b) const { return a == b.path; }
    };

    using table = std::unordered_map<std::string, path_routes, hasher, equal>;

    table exact_;
    table prefixes_;
    std::size_t longest_exact_ = 0;
    std::size_t longest_prefix_ = 0;

    static std::optional<std::size_t> find_in(
        const table& t, hashed_path path, const routing_subject& subject
    );
};

}  // namespace gateway::policy
