#include "gateway/replay/logs/json_format.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::replay {

namespace {

part_set known_host(const wanted_parts& wanted)
{
    return wanted.all_from(source::host);
}

struct named_role {
    std::string_view name;
    json_role role;
};

constexpr std::array<named_role, 8> field_names{{
    {"client", json_role::client},
    {"time", json_role::time},
    {"method", json_role::method},
    {"path", json_role::target},
    {"host", json_role::host},
    {"status", json_role::status},
    {"duration", json_role::duration_in_seconds},
    {"cost", json_role::cost},
}};

constexpr std::array<std::pair<std::string_view, source>, 6> part_names{{
    {"header:", source::header},
    {"cookie:", source::cookie},
    {"query:", source::query},
    {"jwt:", source::jwt},
    {"cert:", source::cert},
    {"json:", source::json},
}};

std::optional<policy::key_part> part_named(std::string_view text)
{
    for (const auto& [prefix, from] : part_names) {
        if (text.starts_with(prefix) && text.size() > prefix.size()) {
            const std::string_view name = text.substr(prefix.size());
            policy::key_part part{.from = from, .name = std::string{name}};
            part.text = std::string{text};
            if (from == source::header) {
                part.name = base::lower_case(name);
            }
            return part;
        }
    }
    return std::nullopt;
}

// Adds a rule for a member that lies in objects within objects, as the dots of `path` say.
void add_rule(
    std::vector<json_rule>& rules, std::string_view path, json_role role, std::size_t part
)
{
    const std::size_t dot = path.find('.');
    const std::string_view name = path.substr(0, dot);
    if (dot == path.npos) {
        rules.push_back({.name = std::string{name}, .role = role, .part = part});
        return;
    }
    auto found = std::find_if(rules.begin(), rules.end(), [name](const json_rule& r) {
        return r.name == name && r.role == json_role::nested;
    });
    if (found == rules.end()) {
        rules.push_back({.name = std::string{name}, .role = json_role::nested});
        found = rules.end() - 1;
    }
    add_rule(found->inside, path.substr(dot + 1), role, part);
}

// Adds the rule of one "name=path". Returns what is wrong with it; empty if nothing is.
std::string add_field(std::string_view field, wanted_parts& wanted, json_format& format)
{
    const std::size_t equals = field.find('=');
    const std::string_view name = base::trimmed(field.substr(0, equals));
    const std::string_view path =
        equals == field.npos ? std::string_view{} : base::trimmed(field.substr(equals + 1));
    if (name.empty() || path.empty()) {
        return "expected NAME=MEMBER, such as client=remote_ip, not \"" + std::string{field} + '"';
    }
    const auto role = std::find_if(field_names.begin(), field_names.end(), [name](const auto& f) {
        return f.name == name;
    });
    if (role != field_names.end()) {
        add_rule(format.rules, path, role->role, 0);
        format.known |= role->role == json_role::host ? known_host(wanted) : 0;
        return {};
    }
    const auto part = part_named(name);
    if (!part) {
        return "unknown name \"" + std::string{name} +
               "\": expected client, time, method, path, host, status, duration, cost, or a key "
               "part such as header:x-api-key";
    }
    if (const auto index = wanted.add(*part)) {
        add_rule(format.rules, path, json_role::part, *index);
    }
    return {};
}

bool has_role(const std::vector<json_rule>& rules, json_role role)
{
    return std::any_of(rules.begin(), rules.end(), [role](const json_rule& r) {
        return r.role == role || has_role(r.inside, role);
    });
}

}  // namespace

json_format own_json(const wanted_parts& wanted)
{
    json_format f{
        .name = "the gateway's JSON",
        .rules =
            {{"time", json_role::time},
             {"client", json_role::client},
             {"method", json_role::method},
             {"host", json_role::host},
             {"target", json_role::target},
             {"route", json_role::route},
             {"limit", json_role::limit},
             {"outcome", json_role::outcome},
             {"error", json_role::error},
             {"upstream", json_role::upstream},
             {"server", json_role::server},
             {"status", json_role::status},
             {"grpc_status", json_role::grpc_status},
             {"duration_seconds", json_role::duration_in_seconds},
             {"decided", json_role::decided},
             {"cost", json_role::cost},
             {"costs", json_role::costs}},
        .known = known_host(wanted)};
    json_rule fields{.name = "fields", .role = json_role::nested};
    for (const wanted_parts::named_part& p : wanted.log_fields()) {
        fields.inside.push_back({.name = p.name, .role = json_role::part, .part = p.part});
    }
    f.rules.push_back(std::move(fields));
    return f;
}

json_format caddy_json(const wanted_parts& wanted)
{
    return {
        .name = "Caddy's JSON",
        .rules =
            {{"ts", json_role::time},
             {.name = "request",
              .role = json_role::nested,
              .inside =
                  {{"remote_ip", json_role::client},
                   {"remote_addr", json_role::client},
                   {"method", json_role::method},
                   {"host", json_role::host},
                   {"uri", json_role::target},
                   {"headers", json_role::headers}}},
             {"duration", json_role::duration_in_seconds},
             {"status", json_role::status}},
        .known = known_host(wanted),
        .holds_queries = true,
        .client_is_peer = true,
        .time_is_end = true};
}

json_format traefik_json(const wanted_parts& wanted)
{
    return {
        .name = "Traefik's JSON",
        .rules =
            {{"ClientHost", json_role::client},
             {"Duration", json_role::duration_in_nanoseconds},
             // The status that its client gets. The word is Traefik's.
             {"Down"
              "streamStatus",
              json_role::status},
             {"RequestHost", json_role::host},
             {"RequestMethod", json_role::method},
             {"RequestPath", json_role::target},
             {"StartUTC", json_role::time}},
        .known = known_host(wanted),
        .holds_queries = true,
        .client_is_peer = true,
        .header_prefix = "request_"};
}

std::optional<json_format> described_json(
    std::string_view fields, wanted_parts& wanted, std::string& complaint
)
{
    json_format format{.name = "JSON by --fields", .rules = {}};
    base::for_each_element(fields, ',', [&](std::string_view field) {
        const std::string wrong = add_field(field, wanted, format);
        complaint = complaint.empty() ? wrong : complaint;
    });
    for (const auto& [name, role] : field_names) {
        const bool needed =
            role == json_role::client || role == json_role::time || role == json_role::target;
        if (complaint.empty() && needed && !has_role(format.rules, role)) {
            complaint = "it names no member for " + std::string{name};
        }
    }
    return complaint.empty() ? std::optional{std::move(format)} : std::nullopt;
}

}  // namespace gateway::replay
