#include "gateway/replay/logs/haproxy_reader.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/replay/logs/line_words.hpp"
#include "gateway/replay/logs/logged_values.hpp"
#include "gateway/replay/logs/timestamp.hpp"

#include <charconv>

namespace gateway::replay {

namespace {

// Reads the last of the times "10/0/30/69/109", the total, in milliseconds. A '+' before it says
// that the request went on longer.
base::duration total_of(std::string_view times)
{
    std::string_view last = times.substr(times.rfind('/') + 1);
    last.remove_prefix(last.starts_with('+') ? 1 : 0);
    std::int64_t milliseconds = 0;
    std::from_chars(last.data(), last.data() + last.size(), milliseconds);
    constexpr std::chrono::milliseconds longest =
        std::chrono::duration_cast<std::chrono::milliseconds>(longest_duration);
    const bool likely = milliseconds > 0 && milliseconds < longest.count();
    return std::chrono::milliseconds{likely ? milliseconds : 0};
}

// Reads the client's address, behind whose last colon HAProxy always writes a port. It puts no
// brackets around an IPv6 address.
std::optional<base::ip_address> client_of(std::string_view text)
{
    return text.starts_with('[') ? parse_logged_address(text)
                                 : base::ip_address::parse(text.substr(0, text.rfind(':')));
}

// Replaces #HH, as HAProxy writes a quote, for example, in place. A '#' itself is written so, too.
std::string_view without_escapes(std::string_view text, char* in_place)
{
    char* to = in_place;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int byte = base::marked_byte('#', text.substr(i));
        *to++ = byte >= 0 ? static_cast<char>(byte) : text[i];
        i += byte >= 0 ? 2 : 0;
    }
    return {in_place, static_cast<std::size_t>(to - in_place)};
}

}  // namespace

haproxy_reader::haproxy_reader(const wanted_parts& wanted)
    : hosts_(wanted.all_from(source::host)), queries_(wanted.all_from(source::query))
{}

// A line is: [syslog] client:port [date] listener pool/server times status bytes cookies flags
// counts queues {captured} "request line".
bool haproxy_reader::read(std::span<char> line, logged_request& out, std::vector<part_text>& parts)
{
    (void)parts;
    out = {};
    const std::string_view text{line.data(), line.size()};
    const std::size_t bracket = text.find(" [");
    const std::size_t quote = text.rfind(" \"");
    if (bracket == text.npos || quote == text.npos || quote < bracket) {
        return false;
    }
    const std::string_view before = text.substr(0, bracket);
    const auto client = client_of(before.substr(before.rfind(' ') + 1));
    line_words words{text.substr(bracket + 2)};
    const auto at = parse_common_time(words.until(']'));
    if (!client || !at || !words.skip(' ')) {
        return false;
    }
    words.word();
    words.word();
    out.duration = total_of(words.word());
    const std::string_view status = words.word();
    // -1 says that the client got no response.
    if (status != "-1" && !read_status(status, out.status)) {
        return false;
    }
    std::string_view quoted = text.substr(quote + 2);
    quoted = quoted.substr(0, quoted.rfind('"'));
    const request_line request = read_request_line(quoted);
    out.at = *at;
    out.client = *client;
    out.client_is_peer = true;
    out.method = request.method;
    // The line may be changed, and its reader owns it now.
    out.target = without_escapes(request.target, const_cast<char*>(request.target.data()));
    out.refused_early = !request.good;
    out.known = queries_ | knows_duration;
    split_absolute_target(out.target, out.host);
    out.known |= out.host.empty() ? 0 : hosts_;
    return true;
}

}  // namespace gateway::replay
