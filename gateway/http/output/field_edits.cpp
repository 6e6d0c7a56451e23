#include "gateway/http/output/field_edits.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

bool describes_content(std::string_view name)
{
    return base::equal_ignoring_case(name, "Content-Type") ||
           base::equal_ignoring_case(name, "Cache-Control");
}

}  // namespace

void field_edits::finish()
{
    lines.clear();
    own_lines.clear();
    for (const auto& [name, value] : set) {
        const std::size_t at = lines.size();
        lines.append(name).append(": ").append(value).append("\r\n");
        if (!describes_content(name)) {
            own_lines.append(lines, at);
        }
    }
}

bool field_edits::takes_out(std::string_view name) const
{
    const auto is_set = [name](const auto& s) { return reads_as(name, s.first); };
    const auto is_it = [name](const std::string& removed) { return reads_as(name, removed); };
    return std::any_of(set.begin(), set.end(), is_set) ||
           std::any_of(remove.begin(), remove.end(), is_it) ||
           (hides_over_limit && reads_as(name, "x-over-limit"));
}

}  // namespace gateway::http
