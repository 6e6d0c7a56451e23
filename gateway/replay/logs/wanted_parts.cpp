#include "gateway/replay/logs/wanted_parts.hpp"

#include "gateway/base/text.hpp"
#include "gateway/replay/word_list.hpp"

#include <algorithm>
#include <array>

namespace gateway::replay {

namespace {

bool is_same(const policy::key_part& part, source from, std::string_view name)
{
    if (part.from != from) {
        return false;
    }
    return from == source::header ? base::equal_ignoring_case(part.name, name) : part.name == name;
}

}  // namespace

std::vector<policy::key_part> stating_parts(const policy::cost_rule& rule)
{
    std::vector<policy::key_part> parts;
    if (rule.from == policy::cost_rule::source::header) {
        parts.push_back({.from = source::header, .name = rule.name});
    } else if (rule.from == policy::cost_rule::source::query) {
        parts.push_back({.from = source::query, .name = rule.name});
    }
    for (const policy::content_cost& part : rule.parts) {
        if (!part.path.empty()) {
            parts.push_back({.from = source::json, .name = part.path});
        }
    }
    return parts;
}

std::string text_of(const policy::key_part& part)
{
    if (!part.text.empty()) {
        return part.text;
    }
    constexpr std::array<std::string_view, 12> names{
        "client_ip",
        "header:",
        "cookie:",
        "query:",
        "jwt:",
        "cert:",
        "method",
        "host",
        "path",
        "route",
        "json:",
        "descriptor:"};
    return std::string{names[static_cast<std::size_t>(part.from)]} + part.name;
}

bool is_always_known(const policy::key_part& part)
{
    return part.from == source::client_ip || part.from == source::method ||
           part.from == source::path || part.from == source::route;
}

void wanted_parts::add(const policy::policy& p)
{
    add({.from = source::host, .name = {}, .text = "host"});
    add({.from = source::header, .name = base::lower_case(p.client.header)});
    for (const policy::limit_rule& rule : p.limits) {
        for (const policy::key_part& part : rule.key) {
            // No log has the entries of a descriptor, and no route has such a limit.
            if (part.from != source::descriptor) {
                add(part);
            }
        }
        for (std::string& claim : rule.claimed.claims()) {
            add({.from = source::jwt, .name = std::move(claim)});
        }
        for (const policy::key_part& part : stating_parts(rule.cost)) {
            add(part);
        }
    }
    for (const policy::plan_section& plans : p.plans) {
        if (plans.key.from != source::descriptor) {
            add(plans.key);
        }
    }
    for (const policy::route& route : p.routes) {
        for (const policy::header_match& match : route.match.headers) {
            add({.from = source::header, .name = match.name});
        }
        for (const policy::json_match& match : route.match.json) {
            add({.from = source::json, .name = match.path});
        }
    }
    for (const policy::log_field& field : p.log_fields) {
        if (const auto part = add(field.part)) {
            log_fields_.push_back({field.name, *part});
        }
    }
}

std::optional<std::size_t> wanted_parts::add(const policy::key_part& part)
{
    if (is_always_known(part)) {
        return std::nullopt;
    }
    if (const auto found = find(part.from, part.name)) {
        return found;
    }
    if (parts_.size() == most) {
        return std::nullopt;
    }
    parts_.push_back(part);
    return parts_.size() - 1;
}

std::optional<std::size_t> wanted_parts::find(source from, std::string_view name) const
{
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (is_same(parts_[i], from, name)) {
            return i;
        }
    }
    return std::nullopt;
}

part_set wanted_parts::set_of(const policy::key_part& part) const
{
    const auto found = find(part.from, part.name);
    return found ? bit(*found) : part_set{0};
}

bool wanted_parts::is_past_bound(const policy::key_part& part) const
{
    return !is_always_known(part) && !find(part.from, part.name);
}

std::string wanted_parts::names_of(part_set set) const
{
    std::string names;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if ((set & bit(i)) != 0) {
            add_word(names, text_of(parts_[i]));
        }
    }
    return names;
}

part_set wanted_parts::all_from(source from) const
{
    part_set set = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        set |= parts_[i].from == from ? bit(i) : 0;
    }
    return set;
}

}  // namespace gateway::replay
