#include "gateway/policy/claimed_numbers.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>

namespace gateway::policy {

std::int64_t claimed_number::stated_by(std::optional<std::string_view> value) const
{
    if (!any() || !value || value->empty() ||
        !std::all_of(value->begin(), value->end(), http::is_digit)) {
        return standard;
    }
    const auto number = base::parse_decimal(*value, static_cast<std::uint64_t>(max));
    if (!number) {
        return max;
    }
    return *number == 0 ? standard : static_cast<std::int64_t>(*number);
}

std::vector<std::string> claimed_numbers::claims() const
{
    std::vector<std::string> names;
    for (const claimed_number* number : {&tokens, &burst}) {
        if (number->any()) {
            names.push_back(number->claim);
        }
    }
    return names;
}

}  // namespace gateway::policy
