#include "gateway/replay/logs/combined_reader.hpp"

#include "gateway/replay/logs/line_words.hpp"
#include "gateway/replay/logs/logged_values.hpp"

namespace gateway::replay {

combined_reader::combined_reader(const wanted_parts& wanted)
    : hosts_(wanted.all_from(source::host)),
      queries_(wanted.all_from(source::query)),
      referer_(wanted.find(source::header, "referer")),
      user_agent_(wanted.find(source::header, "user-agent"))
{}

// A value of "-" says that there was none.
void combined_reader::add_header(
    std::optional<std::size_t> part,
    std::string_view value,
    logged_request& out,
    std::vector<part_text>& parts
) const
{
    if (!part) {
        return;
    }
    out.known |= bit(*part);
    if (value != "-") {
        parts.push_back({*part, unescape(value, const_cast<char*>(value.data()))});
    }
}

bool combined_reader::read(std::span<char> line, logged_request& out, std::vector<part_text>& parts)
{
    out = {};
    line_words words{{line.data(), line.size()}};
    // A virtual host may be an address itself. An address in the second place is then the client's,
    // as no identity looks like one.
    const std::string_view first = words.word();
    line_words behind_second = words;
    auto client = parse_logged_address(behind_second.word());
    if (client) {
        out.host = first;
        out.known |= hosts_;
        words = behind_second;
    } else {
        client = parse_logged_address(first);
    }
    if (!client) {
        return false;
    }
    out.client = *client;
    // The user's name may have blanks.
    const std::size_t bracket = words.left().find(" [");
    if (bracket == std::string_view::npos) {
        return false;
    }
    words = line_words{words.left().substr(bracket + 2)};
    const auto at = moments_.read(words.until(']'), parse_common_time);
    bool good = at.has_value() && words.skip(' ');
    const request_line request = read_request_line(words.quoted(good));
    good = read_status(words.word(), out.status) && good;
    if (!good) {
        return false;
    }
    out.at = *at;
    out.client_is_peer = true;
    out.known |= queries_;
    out.method = request.method;
    // The line may be changed, and its reader owns it now.
    out.target = unescape(request.target, const_cast<char*>(request.target.data()));
    out.refused_early = !request.good;
    split_absolute_target(out.target, out.host);
    out.known |= out.host.empty() ? 0 : hosts_;
    words.word();
    bool has_headers = true;
    const std::string_view referer = words.quoted(has_headers);
    const std::string_view user_agent = words.quoted(has_headers);
    if (has_headers) {
        add_header(referer_, referer, out, parts);
        add_header(user_agent_, user_agent, out, parts);
    }
    return true;
}

}  // namespace gateway::replay
