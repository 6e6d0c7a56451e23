#include "gateway/limits/reservations/settlement.hpp"

#include "gateway/http/media_type.hpp"
#include "gateway/policy/cost_rule.hpp"

#include <algorithm>

namespace gateway::limits {

namespace {

// Returns a * b + c, or `most` if that is less.
// Requires: none is negative.
std::int64_t product_and_sum(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t most)
{
    std::int64_t product = 0;
    std::int64_t sum = 0;
    const bool overflows =
        __builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum);
    return overflows ? most : std::min(sum, most);
}

// Returns the number that came last at one of the paths.
std::optional<std::int64_t> last_of(
    const policy::stated_usage& usage, const content::usage_reader& reader
)
{
    const auto latest = std::max_element(
        usage.places.begin(),
        usage.places.end(),
        [&reader](const auto& a, const auto& b) {
            return reader.when(a.index) < reader.when(b.index);
        }
    );
    return reader.last(latest->index);
}

// Returns the form of contents of this type, or nothing if they are not read.
std::optional<content::content_form> form_of(http::media_type type)
{
    switch (type) {
        case http::media_type::json:
            return content::content_form::json;
        case http::media_type::json_lines:
            return content::content_form::lines;
        case http::media_type::event_stream:
            return content::content_form::events;
        case http::media_type::other:
            break;
    }
    return std::nullopt;
}

}  // namespace

std::unique_ptr<content::usage_reader> make_usage_reader(
    const content::json_paths& paths, const http::response_head& head
)
{
    const auto form = form_of(http::read_media_type(head.fields));
    return form ? std::make_unique<content::usage_reader>(paths, *form) : nullptr;
}

std::optional<std::int64_t> cost_by_end(
    const policy::outcome_rule& rule, const policy::response_end& end
)
{
    if (rule.bytes_per_token > 0) {
        return policy::cost_of_bytes(end.response_bytes, rule.bytes_per_token, rule.settle_max);
    }
    std::optional<std::int64_t> cost;
    for (const policy::stated_usage& u : rule.usage) {
        const auto number = end.usage != nullptr ? last_of(u, *end.usage) : std::nullopt;
        if (number) {
            cost = product_and_sum(*number, u.weight, cost.value_or(0), rule.settle_max);
        }
    }
    return cost;
}

}  // namespace gateway::limits
