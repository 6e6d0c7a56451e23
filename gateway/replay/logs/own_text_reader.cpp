#include "gateway/replay/logs/own_text_reader.hpp"

#include "gateway/replay/logs/line_words.hpp"
#include "gateway/replay/logs/logged_values.hpp"
#include "gateway/replay/logs/own_fields.hpp"
#include "gateway/replay/logs/timestamp.hpp"

namespace gateway::replay {

own_text_reader::own_text_reader(const wanted_parts& wanted)
    : wanted_(wanted), hosts_(wanted.all_from(source::host))
{}

void own_text_reader::note(
    std::string_view name,
    std::string_view value,
    logged_request& out,
    std::vector<part_text>& parts
) const
{
    if (name == "host") {
        out.host = value;
    } else if (name == "route") {
        out.route = value;
    } else if (name == "limit") {
        out.limit = value;
    } else if (name == "outcome") {
        out.was = verdict_of_outcome(value);
    } else if (name == "decided") {
        out.at = parse_unix_time(value).value_or(out.at);
    } else if (name == "cost") {
        out.known |= read_cost(value, out.cost) ? knows_cost : 0;
    } else if (name == "grpc_status") {
        out.grpc_status = http::read_grpc_status(value);
    } else if (name == "costs") {
        out.costs = value;
    } else {
        for (const wanted_parts::named_part& p : wanted_.log_fields()) {
            if (p.name == name) {
                parts.push_back({p.part, value});
                out.known |= bit(p.part);
            }
        }
    }
}

// A line is: client - - [time] "METHOD path" status bytes seconds name=value name="value" ...
bool own_text_reader::read(std::span<char> line, logged_request& out, std::vector<part_text>& parts)
{
    out = {};
    out.known = hosts_ | knows_duration;
    line_words words{{line.data(), line.size()}};
    const auto client = parse_logged_address(words.word());
    bool good = client && words.word() == "-" && words.word() == "-" && words.skip('[');
    const auto at = parse_common_time(words.until(']'));
    good = good && at && words.skip(' ');
    const std::string_view request = words.quoted(good);
    read_status(words.word(), out.status);
    words.word();
    const auto duration = parse_seconds(words.word());
    if (!good || !duration || *duration > longest_duration || !words.left().starts_with("peer=")) {
        return false;
    }
    out.client = *client;
    out.at = *at;
    out.duration = *duration;
    const std::size_t blank = request.find(' ');
    out.method = request.substr(0, blank);
    out.target = blank == request.npos ? std::string_view{} : request.substr(blank + 1);
    out.target = unescape(out.target, const_cast<char*>(out.target.data()));
    own_fields fields;
    while (good && !words.left().empty()) {
        const std::string_view name = words.until('=');
        std::string_view value = words.left().starts_with('"') ? words.quoted(good) : words.word();
        value = unescape(value, const_cast<char*>(value.data()));
        fields.error = name == "error" ? value : fields.error;
        fields.has_decided = fields.has_decided || name == "decided";
        fields.has_upstream = fields.has_upstream || name == "upstream";
        fields.has_server = fields.has_server || name == "server";
        note(name, value, out, parts);
    }
    out.refused_early = out.target.empty();
    note_own_fields(fields, out);
    return good;
}

}  // namespace gateway::replay
