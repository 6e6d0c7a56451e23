// `path_table` finds routes by path, in one spelling of it: an exact path first, then the longest
// prefix by whole segments. The cost of a lookup depends on the path, not on the number of routes.
#pragma once

#include "gateway/policy/paths/path_routes.hpp"
#include "gateway/policy/route.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gateway::policy {

// The best route that a table has for a request.
struct path_match {
    const path_routes::candidate* route = nullptr;
    // Rank of its path: the number of segments of a prefix, and more for an exact path.
    std::size_t rank = 0;

    bool precedes(const path_match& other) const;
};

class path_table {
public:
    // Adds a route, in the order of declaration.
    // Requires: `path` is compared_path() of the match.
    void add(const route_match& match, std::string_view path, std::size_t index);

    bool empty() const { return exact_.empty() && prefixes_.empty(); }

    // Finds the route for `path`, in the spelling of the table. Only method and fields of
    // the subject are used.
    path_match find(std::string_view path, const routing_subject& subject) const;

private:
    // A path beside its hash. A lookup computes the hashes of all prefixes in one pass.
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

    template <class Value>
    using by_path = std::unordered_map<std::string, Value, hasher, equal>;

    // The routes whose path is written without a '/' at its end, and those with one.
    using both_spellings = std::array<path_routes, 2>;

    // Keys are paths without a '/' at their end.
    by_path<both_spellings> exact_;
    by_path<path_routes> prefixes_;
    std::size_t longest_exact_ = 0;
    std::size_t longest_prefix_ = 0;

    path_match find_exact(std::string_view path, const routing_subject& subject) const;
    const path_routes::candidate* find_prefix(hashed_path path, const routing_subject& subject)
        const;
};

}  // namespace gateway::policy
