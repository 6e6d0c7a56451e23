#include "gateway/replay/logs/json_reader.hpp"

#include "gateway/replay/logs/logged_values.hpp"
#include "gateway/replay/logs/timestamp.hpp"

#include <algorithm>
#include <utility>

namespace gateway::replay {

namespace {

// Most members of an object that are expected in their order.
constexpr std::size_t most_expected = 64;

// The text that Caddy writes in place of a credential.
constexpr std::string_view redacted = "REDACTED";

void note_duration(std::optional<base::duration> d, logged_request& out)
{
    if (d && *d <= longest_duration) {
        out.duration = *d;
        out.known |= knows_duration;
    }
}

// Shortens a duration that counts from the head of a request whose limits were asked later, once
// its content had come: the line was written when the request was over.
void end_when_written(std::optional<base::duration> written, logged_request& out)
{
    constexpr std::chrono::milliseconds precision{1};
    if (written && *written + precision >= out.at &&
        *written + precision <= out.at + out.duration) {
        out.duration = std::max(*written - out.at, base::duration{0});
    }
}

void hide(part_set parts, logged_request& out)
{
    out.known &= ~parts;
    out.hidden |= parts;
}

}  // namespace

json_reader::json_reader(json_format format, const wanted_parts& wanted)
    : format_(std::move(format)),
      wanted_(wanted),
      levels_(2),
      cookies_(wanted.all_from(source::cookie)),
      awaits_contents_(wanted.all_from(source::json) != 0)
{
    levels_[0] = level_of(format_.rules);
}

// Returns the level of an object with these rules. Adds those of the objects inside.
json_reader::level json_reader::level_of(const std::vector<json_rule>& rules)
{
    level made{.rules = &rules};
    for (const json_rule& r : rules) {
        const bool is_object = r.role == json_role::nested;
        if (is_object) {
            levels_.push_back(level_of(r.inside));
        }
        made.inside.push_back(is_object ? levels_.size() - 1 : 0);
    }
    return made;
}

json_reader::meaning json_reader::find(const level& of, std::string_view name) const
{
    if (of.rules == nullptr) {
        const auto part = wanted_.find(source::header, name);
        return part ? meaning{json_role::part, *part} : meaning{};
    }
    for (std::size_t i = 0; i < of.rules->size(); ++i) {
        const json_rule& r = (*of.rules)[i];
        if (r.name == name) {
            return {r.role, r.part, of.inside[i]};
        }
    }
    const std::string& prefix = format_.header_prefix;
    if (!prefix.empty() && name.starts_with(prefix)) {
        if (const auto part = wanted_.find(source::header, name.substr(prefix.size()))) {
            return {json_role::part, *part};
        }
    }
    return {};
}

// Finds what the member means, and expects it at this position of the next line.
json_reader::meaning json_reader::learn(level& of, std::size_t position, const json_member& m) const
{
    const meaning means = find(of, m.name);
    if (position < most_expected && !m.lead.empty()) {
        of.expected.resize(std::max(of.expected.size(), position + 1));
        of.expected[position] = {
            .name = std::string{m.name}, .lead = std::string{m.lead}, .means = means};
    }
    return means;
}

void json_reader::walk(std::size_t index, std::span<char> object, reading& line)
{
    json_cursor members{object};
    const std::vector<expected_member>& expected = levels_[index].expected;
    const auto likely = [&expected](std::size_t position) {
        return position < expected.size() ? std::string_view{expected[position].lead}
                                          : std::string_view{};
    };
    json_member m;
    for (std::size_t position = 0; line.good && members.next(m, likely(position)); ++position) {
        const meaning means =
            m.expected ? expected[position].means : learn(levels_[index], position, m);
        const std::string_view name = m.expected ? expected[position].name : m.name;
        if (means.role == json_role::nested) {
            if (m.value.is == json_kind::object) {
                walk(means.inside, m.value.text, line);
            }
        } else if (index == level_of_headers) {
            const bool hides = m.value.view().find(redacted) != std::string_view::npos;
            if (means.role == json_role::part && hides) {
                hide(bit(means.part), line.out);
            } else if (means.role == json_role::part) {
                note_header(means.part, m.value, line);
            }
            if (name == "Cookie") {
                hide(cookies_, line.out);
            }
        } else if (means.role != json_role::none) {
            note(means, m.value, line);
        }
    }
    line.good = line.good && members.is_complete();
}

void json_reader::note_header(std::size_t part, json_value value, reading& line)
{
    if (value.is == json_kind::string) {
        line.parts.push_back({part, value.view()});
    } else if (value.is == json_kind::array) {
        json_elements lines{value.text};
        for (json_value one; lines.next(one);) {
            if (one.is == json_kind::string) {
                line.parts.push_back({part, one.view()});
            }
        }
    }
}

void json_reader::note(const meaning& means, json_value value, reading& line)
{
    logged_request& out = line.out;
    const std::string_view text = value.view();
    switch (means.role) {
        case json_role::time:
            line.time = text;
            break;
        case json_role::client: {
            const auto address = parse_logged_address(text);
            line.has_client = line.has_client || address.has_value();
            out.client = address.value_or(out.client);
            break;
        }
        case json_role::method:
            out.method = text;
            break;
        case json_role::target:
            out.target = text;
            line.has_target = true;
            break;
        case json_role::host:
            out.host = text;
            break;
        case json_role::part:
            if (value.is == json_kind::string || value.is == json_kind::number || text == "true" ||
                text == "false") {
                line.parts.push_back({means.part, text});
            }
            break;
        case json_role::headers:
            if (value.is == json_kind::object) {
                out.known |= wanted_.all_from(source::header) | cookies_;
                walk(level_of_headers, value.text, line);
            }
            break;
        default:
            note_own_word(means.role, value, line);
    }
}

void json_reader::note_own_word(json_role role, json_value value, reading& line)
{
    logged_request& out = line.out;
    const std::string_view text = value.view();
    switch (role) {
        case json_role::route:
            out.route = text;
            break;
        case json_role::limit:
            out.limit = text;
            break;
        case json_role::outcome:
            out.was = verdict_of_outcome(text);
            break;
        case json_role::error:
            line.fields.error = text;
            break;
        case json_role::upstream:
            line.fields.has_upstream = true;
            break;
        case json_role::server:
            line.fields.has_server = true;
            break;
        case json_role::costs:
            out.costs = text;
            break;
        default:
            note_number(role, value, line);
    }
}

void json_reader::note_number(json_role role, json_value value, reading& line)
{
    logged_request& out = line.out;
    std::int64_t number = 0;
    switch (role) {
        case json_role::decided:
            line.decided = parse_unix_time(value.view());
            break;
        case json_role::status:
            read_status(value.view(), out.status);
            break;
        case json_role::grpc_status:
            out.grpc_status = http::read_grpc_status(value.view());
            break;
        case json_role::duration_in_seconds:
            note_duration(parse_seconds(value.view()), out);
            break;
        case json_role::duration_in_nanoseconds:
            if (read_number(value.view(), number) && number >= 0) {
                note_duration(base::duration{number}, out);
            }
            break;
        case json_role::cost:
            if (read_cost(value.view(), out.cost)) {
                out.known |= knows_cost;
            }
            break;
        default:
            break;
    }
}

bool json_reader::read(std::span<char> line, logged_request& out, std::vector<part_text>& parts)
{
    out = {};
    out.known = format_.known;
    out.client_is_peer = format_.client_is_peer;
    out.method = "GET";
    reading now{.out = out, .parts = parts};
    walk(0, line, now);
    return finish(now);
}

bool json_reader::finish(reading& line) const
{
    logged_request& out = line.out;
    const auto at = line.decided || !line.time ? line.decided : parse_moment(*line.time);
    if (!line.good || !line.has_client || !line.has_target || !at) {
        return false;
    }
    const bool is_end = !line.decided && format_.time_is_end;
    out.at = *at - (is_end ? out.duration : base::duration{0});
    if (awaits_contents_ && line.decided && line.time) {
        end_when_written(parse_moment(*line.time), out);
    }
    if (format_.holds_queries || out.target.find('?') != std::string_view::npos) {
        out.known |= wanted_.all_from(source::query);
    }
    out.refused_early = out.target.empty() || out.method.empty();
    line.fields.has_decided = line.decided.has_value();
    note_own_fields(line.fields, out);
    for (const part_text& p : line.parts) {
        out.known |= bit(p.part);
    }
    return true;
}

}  // namespace gateway::replay
