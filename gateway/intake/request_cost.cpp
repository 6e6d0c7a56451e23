#include "gateway/intake/request_cost.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/part_value.hpp"

#include <algorithm>

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
std::optional<std::int64_t> tokens_in(std::string_view text, std::int64_t max)
{
    const auto number = base::parse_decimal(text, static_cast<std::uint64_t>(max));
    return number ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt;
}

// Returns the cost that a member of the content states. Only a number states one.
std::optional<std::int64_t> cost_of_member(
    const policy::content_cost& part, const content::request_content& content
)
{
    using presence = content::request_values::presence;
    switch (content.at(part.index)) {
        case presence::absent:
            return part.standard;
        case presence::present:
            return content.values->is_text(part.index)
                       ? std::nullopt
                       : tokens_in(content.values->text(part.index), part.max);
        case presence::other:
        case presence::ambiguous:
            break;
    }
    return std::nullopt;
}

// Adds up the costs of the rule's parts.
std::optional<request_cost> cost_of_content(
    const policy::cost_rule& rule,
    const http::request_head& head,
    const content::request_content& content
)
{
    request_cost all{0};
    for (const policy::content_cost& part : rule.parts) {
        std::optional<std::int64_t> tokens;
        if (!part.path.empty()) {
            tokens = cost_of_member(part, content);
        } else if (head.body.how == http::framing::kind::chunked) {
            tokens = part.standard;
            all.by_bytes = &part;
        } else {
            tokens = part.tokens_for(head.body.length);
        }
        if (!tokens) {
            return std::nullopt;
        }
        all.tokens = std::min(all.tokens + *tokens, policy::most_cost);
    }
    return all;
}

}  // namespace

std::optional<request_cost> stated_cost(
    const policy::cost_rule& rule,
    const http::request_head& head,
    const content::request_content& content
)
{
    if (rule.from == policy::cost_rule::source::methods) {
        return request_cost{cost_of_method(rule, head.method)};
    }
    if (rule.from == policy::cost_rule::source::content) {
        return cost_of_content(rule, head, content);
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
    const auto tokens =
        value.occurred() ? tokens_in(value.text(), rule.max) : std::optional{rule.standard};
    return tokens ? std::optional{request_cost{*tokens}} : std::nullopt;
}

}  // namespace gateway::intake
