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

// Fields with a value of their own in each message, by how their names begin. In the table of HPACK
// each of them would push out a field that comes again.
constexpr std::array<std::string_view, 4> never_again{
    "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "traceparent"};

std::uint8_t flags_of(std::string_view name)
{
    const bool once = name == "ratelimit" ||
                      std::any_of(never_again.begin(), never_again.end(), [name](auto each) {
                          return name.starts_with(each);
                      });
    return once ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
}

// Room for the fields of most heads.
constexpr std::size_t usual_fields = 24;

nghttp2_nv field_of(std::string_view name, std::string_view value)
{
    // nghttp2 does not change these bytes.
    const auto bytes_of = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes_of(name), bytes_of(value), name.size(), value.size(), flags_of(name)};
}

std::string_view without_cr(std::string_view line)
{
    return line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0));
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
    for (std::string_view left(lines.data(), lines.size()); !left.empty();) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        const std::string_view line = without_cr(left.substr(0, end));
        if (const std::size_t colon = line.find(':'); colon != line.npos) {
            char* const begin = lines.data() + (line.data() - lines.data());
            std::transform(begin, begin + colon, begin, [](char c) { return base::to_lower(c); });
            const std::string_view name = line.substr(0, colon);
            const std::string_view value = base::trimmed(line.substr(colon + 1));
            if (host != nullptr && name == "host") {
                *host = value;
            } else if (host != nullptr && name == "te") {
                add(name, "trailers");
            } else if (!is_about_connection(name)) {
                add(name, value);
            }
        }
        left.remove_prefix(std::min(end + 1, left.size()));
    }
}

void field_block::add(std::string_view name, std::string_view value)
{
    fields_.push_back(field_of(name, value));
}

}  // namespace gateway::http2
