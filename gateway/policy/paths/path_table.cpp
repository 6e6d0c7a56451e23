#include "gateway/policy/paths/path_table.hpp"

#include "gateway/policy/paths/path.hpp"

#include <algorithm>
#include <limits>

namespace gateway::policy {

namespace {

// The hash is FNV-1a of 64 bits, where one byte more is one step more. The operator chooses the
// paths in the tables, so nobody can make them collide.
constexpr std::uint64_t empty_hash = 0xcbf29ce484222325;

// Ranks of exact paths, above those of prefixes.
constexpr std::size_t as_written = std::numeric_limits<std::size_t>::max();
constexpr std::size_t but_for_a_slash = as_written - 1;

constexpr std::uint64_t hash_step(std::uint64_t hash, char next)
{
    return (hash ^ static_cast<unsigned char>(next)) * 0x100000001b3;
}

std::uint64_t hash_of(std::string_view path)
{
    std::uint64_t hash = empty_hash;
    for (const char c : path) {
        hash = hash_step(hash, c);
    }
    return hash;
}

}  // namespace

bool path_match::precedes(const path_match& other) const
{
    if (route == nullptr || other.route == nullptr) {
        return route != nullptr;
    }
    return rank != other.rank ? rank > other.rank : path_routes::precedes(*route, *other.route);
}

std::size_t path_table::hasher::operator()(const std::string& path) const
{
    return hash_of(path);
}

void path_table::add(const route_match& match, std::string_view path, std::size_t index)
{
    if (match.exact) {
        const std::string bare{without_final_slash(path)};
        exact_[bare][bare.size() == path.size() ? 0 : 1].add(match, index);
        longest_exact_ = std::max(longest_exact_, bare.size());
    } else {
        prefixes_[std::string{path}].add(match, index);
        longest_prefix_ = std::max(longest_prefix_, path.size());
    }
}

// Finds an exact path. A route whose path is written as the request's comes before one that differs
// in the final '/'.
path_match path_table::find_exact(std::string_view path, const routing_subject& subject) const
{
    const std::string_view bare = without_final_slash(path);
    if (bare.size() > longest_exact_) {
        return {};
    }
    const auto entry = exact_.find(hashed_path{bare, hash_of(bare)});
    if (entry == exact_.end()) {
        return {};
    }
    const std::size_t own = bare.size() == path.size() ? 0 : 1;
    if (const auto* const found = entry->second[own].find(subject)) {
        return {found, as_written};
    }
    return {entry->second[1 - own].find(subject), but_for_a_slash};
}

const path_routes::candidate* path_table::find_prefix(
    hashed_path path, const routing_subject& subject
) const
{
    const auto entry = prefixes_.find(path);
    return entry == prefixes_.end() ? nullptr : entry->second.find(subject);
}

// Finds an exact path, or else the longest prefix. "/v1" covers "/v1", "/v1/" and "/v1/x", never
// "/v10"; "/" covers every path, but not "*"; the empty prefix covers all.
path_match path_table::find(std::string_view path, const routing_subject& subject) const
{
    if (const path_match found = find_exact(path, subject); found.route != nullptr) {
        return found;
    }
    path_match best{find_prefix({{}, empty_hash}, subject), 0};
    std::uint64_t hash = empty_hash;
    std::size_t rank = 0;
    const std::size_t end = std::min(path.size(), longest_prefix_);
    for (std::size_t i = 0; i < end; ++i) {
        hash = hash_step(hash, path[i]);
        const std::size_t size = i + 1;
        const bool is_root = size == 1 && path.front() == '/';
        if (is_root || size == path.size() || path[size] == '/') {
            ++rank;
            const auto* const longer = find_prefix({path.substr(0, size), hash}, subject);
            best = longer == nullptr ? best : path_match{longer, rank};
        }
    }
    return best;
}

}  // namespace gateway::policy
