#include "gateway/policy/path_index.hpp"

#include <algorithm>

namespace gateway::policy {

namespace {

// FNV-1a, 64 bits: one byte more is one step more. Which paths are in the tables is the operator's
// choice, so nobody can make them collide.
constexpr std::uint64_t empty_hash = 0xcbf29ce484222325;

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

std::string_view compared_path(const route_match& match)
{
    std::string_view path = match.path;
    if (!match.exact && path.size() > 1 && path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return path;
}

std::size_t path_index::hasher::operator()(const std::string& path) const
{
    return hash_of(path);
}

void path_index::add(const route_match& match, std::size_t index)
{
    const std::string path{compared_path(match)};
    (match.exact ? exact_ : prefixes_)[path].add(match, index);
    std::size_t& longest = match.exact ? longest_exact_ : longest_prefix_;
    longest = std::max(longest, path.size());
}

std::optional<std::size_t> path_index::find_in(
    const table& t, hashed_path path, const routing_subject& subject
)
{
    const auto entry = t.find(path);
    return entry == t.end() ? std::nullopt : entry->second.find(subject);
}

// "/v1" covers "/v1", "/v1/" and "/v1/x", never "/v10"; "/" covers every path, but not "*", and the
// empty prefix all.
std::optional<std::size_t> path_index::find(const routing_subject& subject) const
{
    const std::string_view path = subject.path;
    if (path.size() <= longest_exact_) {
        if (const auto found = find_in(exact_, {path, hash_of(path)}, subject)) {
            return found;
        }
    }
    std::optional<std::size_t> best = find_in(prefixes_, {{}, empty_hash}, subject);
    std::uint64_t hash = empty_hash;
    const std::size_t end = std::min(path.size(), longest_prefix_);
    for (std::size_t i = 0; i < end; ++i) {
        hash = hash_step(hash, path[i]);
        const std::size_t size = i + 1;
        const bool is_root = size == 1 && path.front() == '/';
        if (is_root || size == path.size() || path[size] == '/') {
            const auto longer = find_in(prefixes_, {path.substr(0, size), hash}, subject);
            best = longer ? longer : best;
        }
    }
    return best;
}

}  // namespace gateway::policy
