#include "gateway/server/request_key.hpp"

#include "gateway/base/text.hpp"

namespace gateway::server {

namespace {

using source = policy::key_part::source;

// The value of `name` in a list of name=value pairs.
std::optional<std::string_view> pair_value(std::string_view pairs, char separator, std::string_view name)
{
    while (!pairs.empty()) {
        const std::size_t end = std::min(pairs.find(separator), pairs.size());
        const std::string_view pair = base::trimmed(pairs.substr(0, end));
        if (pair.size() > name.size() && pair[name.size()] == '=' && pair.starts_with(name)) {
            const std::string_view value = pair.substr(name.size() + 1);
            if (!value.empty()) {
                return value;
            }
        }
        pairs.remove_prefix(std::min(end + 1, pairs.size()));
    }
    return std::nullopt;
}

std::optional<std::string_view> header_value(const http::request_head& head, std::string_view name)
{
    for (const http::field& f : head.fields) {
        if (!f.value.empty() && base::equal_ignoring_case(f.name, name)) {
            return f.value;
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> part_value(const policy::key_part& part, const key_subject& subject)
{
    switch (part.from) {
        case source::header:
            return header_value(*subject.head, part.name);
        case source::cookie:
            return cookie_value(*subject.head, part.name);
        case source::query:
            return query_value(subject.head->query, part.name);
        case source::method:
            return subject.head->method;
        case source::host:
            return subject.host;
        case source::path:
            return subject.path;
        case source::route:
            return subject.route;
        case source::client_ip:
            break;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string_view> cookie_value(const http::request_head& head, std::string_view name)
{
    for (const http::field& f : head.fields) {
        if (f.id == http::field_name::cookie) {
            if (const auto value = pair_value(f.value, ';', name)) {
                return value;
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> query_value(std::string_view query, std::string_view name)
{
    if (query.starts_with('?')) {
        query.remove_prefix(1);
    }
    return pair_value(query, '&', name);
}

key_result make_bucket_name(const policy::limit_rule& rule, const key_subject& subject, identity::bucket_name& out)
{
    out.start(rule.name);
    for (const policy::key_part& part : rule.key) {
        if (part.from == source::client_ip) {
            out.add(subject.client);
        } else if (const auto value = part_value(part, subject)) {
            out.add(*value);
        } else if (rule.when_missing == policy::missing_key::client_ip) {
            out.add(std::string_view{});  // an absent value is its own, and never equals a present one
            out.add(subject.client);
        } else {
            return rule.when_missing == policy::missing_key::skip ? key_result::skip : key_result::reject;
        }
    }
    return key_result::made;
}

}  // namespace gateway::server
