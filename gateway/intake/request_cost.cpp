#include "gateway/intake/request_cost.hpp"

#include "gateway/http/part_value.hpp"

#include <algorithm>
#include <charconv>

namespace gateway::intake {

namespace {

std::int64_t cost_of_method(const policy::cost_rule& rule, std::string_view method)
{
    const auto found = std::find_if(rule.methods.begin(), rule.methods.end(), [&](const auto& m) {
        return m.first == method;
    });
    return found == rule.methods.end() ? rule.standard : found->second;
}

// Returns the number, or nothing unless the text is digits only and at most `max`.
std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t max)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool plain = !text.empty() && text.front() != '-' && end == text.data() + text.size();
    return plain && error == std::errc{} && number <= max ? std::optional{number} : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> stated_cost(
    const policy::cost_rule& rule, const http::request_head& head
)
{
    if (rule.from == policy::cost_rule::source::methods) {
        return cost_of_method(rule, head.method);
    }
    thread_local http::part_value value;  // It keeps its memory.
    value.clear();
    if (rule.from == policy::cost_rule::source::header) {
        http::read_header(head, rule.name, value);
    } else {
        http::read_query(head.query, rule.name, value);
    }
    if (value.ambiguous()) {
        return std::nullopt;
    }
    return value.occurred() ? whole_number(value.text(), rule.max) : rule.standard;
}

}  // namespace gateway::intake
