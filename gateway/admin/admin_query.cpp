#include "gateway/admin/admin_query.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <vector>

namespace gateway::admin {

namespace {

// Returns what is wrong with the parameter, or an empty text.
std::string_view read_parameter(
    std::string_view name, std::string_view value, bool knows_by, list_query& q
)
{
    if (name == "by" && knows_by) {
        q.by_rejections = value == "rejections";
        return q.by_rejections || value == "requests" ? "" : "by: expected requests or rejections";
    }
    if (name == "limit") {
        q.limit = value;
        return {};
    }
    if (name == "n") {
        q.most = base::parse_decimal(value, list_query::most_listed).value_or(0);
        return q.most > 0 ? "" : "n: expected a number from 1 to 256";
    }
    return knows_by ? "unknown parameter; known here: by, limit, n"
                    : "unknown parameter; known here: limit, n";
}

}  // namespace

list_query read_list_query(std::string_view query, bool knows_by)
{
    list_query q;
    std::vector<std::string_view> names;
    const auto read_one = [&](std::string_view pair) {
        if (!q.complaint.empty()) {
            return;
        }
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view name = pair.substr(0, equals);
        const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
        const bool again = std::find(names.begin(), names.end(), name) != names.end();
        q.complaint = again ? std::string{name} + ": comes twice"
                            : std::string{read_parameter(name, value, knows_by, q)};
        names.push_back(name);
    };
    if (!query.empty()) {
        base::for_each_element(query, '&', read_one);
    }
    return q;
}

}  // namespace gateway::admin
