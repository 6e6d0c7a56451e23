#include "gateway/policy/paths/path_routes.hpp"

#include "gateway/base/text.hpp"
#include "gateway/policy/json_judgement.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

namespace gateway::policy {

namespace {

// Returns the value of a field that is there exactly once, or nothing.
std::optional<std::string_view> only_value(
    std::span<const http::field> fields, std::string_view name
)
{
    std::optional<std::string_view> value;
    for (const http::field& f : fields) {
        if (base::equal_ignoring_case(f.name, name)) {
            if (value) {
                return std::nullopt;
            }
            value = f.value;
        }
    }
    return value;
}

// Room for the values of a group. A longer value belongs to no route.
using values_room = std::array<char, max_header_matches*(max_header_match_bytes + 1)>;

// Joins the values of these headers. Returns nothing if one is missing or repeated, or is longer
// than any that a route may name.
std::optional<std::string_view> join_values(
    std::span<const http::field> fields, const std::vector<std::string>& names, values_room& room
)
{
    char* end = room.data();
    for (const std::string& name : names) {
        const auto value = only_value(fields, name);
        if (!value || value->size() > max_header_match_bytes) {
            return std::nullopt;
        }
        end = std::copy(value->begin(), value->end(), end);
        *end++ = '\0';
    }
    return std::string_view{room.data(), static_cast<std::size_t>(end - room.data())};
}

}  // namespace

bool path_routes::precedes(const candidate& a, const candidate& b)
{
    return std::tuple{a.methods.empty(), b.headers, b.json.size(), a.ignores_case, a.index} <
           std::tuple{b.methods.empty(), a.headers, a.json.size(), b.ignores_case, b.index};
}

path_routes::candidates& path_routes::beside(const std::vector<header_match>& headers)
{
    if (headers.empty()) {
        return without_headers_;
    }
    std::vector<std::string> names;
    std::string values;
    for (const header_match& h : headers) {
        names.push_back(h.name);
        values.append(h.value).append(1, '\0');
    }
    auto group = std::find_if(groups_.begin(), groups_.end(), [&names](const header_group& g) {
        return g.names == names;
    });
    if (group == groups_.end()) {
        group = groups_.insert(group, {std::move(names), {}});
    }
    return group->by_values[values];
}

void path_routes::add(const route_match& match, std::size_t index)
{
    candidates& all = beside(match.headers);
    candidate c{match.methods, match.headers.size(), match.json, match.ignore_case, index};
    const auto at = std::upper_bound(all.begin(), all.end(), c, precedes);
    all.insert(at, std::move(c));
}

const path_routes::candidate* path_routes::first_for(
    const candidates& all, const routing_subject& subject
)
{
    const auto takes = [&subject](const candidate& c) {
        const bool has_method =
            c.methods.empty() ||
            std::find(c.methods.begin(), c.methods.end(), subject.method) != c.methods.end();
        return has_method && judge(c.json, subject.content) != json_judgement::differs;
    };
    const auto found = std::find_if(all.begin(), all.end(), takes);
    return found == all.end() ? nullptr : &*found;
}

const path_routes::candidate* path_routes::find_in(
    const header_group& group, const routing_subject& subject
)
{
    values_room room;
    const auto values = join_values(subject.fields, group.names, room);
    if (!values) {
        return nullptr;
    }
    const auto same = group.by_values.find(*values);
    return same == group.by_values.end() ? nullptr : first_for(same->second, subject);
}

const path_routes::candidate* path_routes::find(const routing_subject& subject) const
{
    const candidate* best = first_for(without_headers_, subject);
    for (const header_group& group : groups_) {
        const candidate* const c = find_in(group, subject);
        if (c != nullptr && (best == nullptr || precedes(*c, *best))) {
            best = c;
        }
    }
    return best;
}

}  // namespace gateway::policy
