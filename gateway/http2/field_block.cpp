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

iterator without_cr(iterator begin, iterator end)
{
    return end != begin && *(end - 1) == '\r' ? end - 1 : end;
}

}  // namespace

field_block::field_block(int status, std::span<char> lines)
{
    fields_.reserve(24);
    if (status != 0) {
        status_[0] = static_cast<char>('0' + status / 100);
        status_[1] = static_cast<char>('0' + status / 10 % 10);
        status_[2] = static_cast<char>('0' + status % 10);
        add(":status", {status_, 3});
    }
    const iterator end = lines.end();
    for (iterator at = lines.begin(); at != end;) {
        const iterator line_end = std::find(at, end, '\n');
        const iterator colon = std::find(at, line_end, ':');
        if (colon != line_end) {
            std::transform(at, colon, at, [](char c) { return base::to_lower(c); });
            const std::string_view name(at, colon);
            if (!is_about_connection(name)) {
                add(name, base::trimmed(std::string_view(colon + 1, without_cr(colon, line_end))));
            }
        }
        at = line_end == end ? end : line_end + 1;
    }
}

void field_block::add(std::string_view name, std::string_view value)
{
    // nghttp2 does not change these bytes.
    const auto bytes_of = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    fields_.push_back(
        {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE}
    );
}

}  // namespace gateway::http2
