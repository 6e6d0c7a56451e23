#include "gateway/http2/field_block.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::http2 {

namespace {

constexpr std::array<std::string_view, 6> about_connection{
    "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"};

bool is_about_connection(std::string_view lower)
{
    return std::find(about_connection.begin(), about_connection.end(), lower) !=
           about_connection.end();
}

using iterator = std::span<char>::iterator;

// Room for the fields of most heads.
constexpr std::size_t usual_fields = 24;

nghttp2_nv field_of(std::string_view name, std::string_view value)
{
    // nghttp2 does not change these bytes.
    const auto bytes_of = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

iterator without_cr(iterator begin, iterator end)
{
    return end != begin && *(end - 1) == '\r' ? end - 1 : end;
}

}  // namespace

field_block::field_block(int status, std::span<char> lines)
{
    fields_.reserve(usual_fields);
    if (status != 0) {
        status_[0] = static_cast<char>('0' + status / 100);
        status_[1] = static_cast<char>('0' + status / 10 % 10);
        status_[2] = static_cast<char>('0' + status % 10);
        add(":status", {status_, 3});
    }
    add_lines(lines, nullptr);
}

// The request line is the gateway's own: "method target HTTP/1.1".
field_block::field_block(std::string_view scheme, std::span<char> head)
{
    const std::string_view line(head.begin(), std::find(head.begin(), head.end(), '\r'));
    const std::size_t method_end = line.find(' ');
    const std::size_t target_end = line.rfind(' ');
    fields_.reserve(usual_fields);
    add(":method", line.substr(0, method_end));
    add(":scheme", scheme);
    add(":path", line.substr(method_end + 1, target_end - method_end - 1));
    add(":authority", {});
    std::string_view host;
    add_lines(head.subspan(line.size() + 2), &host);
    if (host.empty()) {
        fields_.erase(fields_.begin() + 3);
    } else {
        fields_[3] = field_of(":authority", host);
    }
}

// Adds the fields of lines "name: value\r\n". Those of a request have a `host`, which is put there
// instead, and may say that trailers are understood (RFC 9113 §8.2.2).
void field_block::add_lines(std::span<char> lines, std::string_view* host)
{
    const iterator end = lines.end();
    for (iterator at = lines.begin(); at != end;) {
        const iterator line_end = std::find(at, end, '\n');
        const iterator colon = std::find(at, line_end, ':');
        if (colon != line_end) {
            std::transform(at, colon, at, [](char c) { return base::to_lower(c); });
            const std::string_view name(at, colon);
            const auto value = base::trimmed({colon + 1, without_cr(colon, line_end)});
            if (host != nullptr && name == "host") {
                *host = value;
            } else if (host != nullptr && name == "te") {
                add(name, "trailers");
            } else if (!is_about_connection(name)) {
                add(name, value);
            }
        }
        at = line_end == end ? end : line_end + 1;
    }
}

void field_block::add(std::string_view name, std::string_view value)
{
    fields_.push_back(field_of(name, value));
}

}  // namespace gateway::http2
