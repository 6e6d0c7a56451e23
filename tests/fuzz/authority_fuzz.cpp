// Input: the value of a Host field.
#include "gateway/http/authority.hpp"

#include "gateway/http/input/request_parser.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace gateway;
    using fuzz::require;
    using state = http::parse_result::state;

    const std::string text(data, data + size);
    const bool is = http::is_authority(text);
    std::string swapped = text;
    for (char& c : swapped) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        c = letter ? static_cast<char>(c ^ 0x20) : c;
    }
    require(http::is_authority(swapped) == is);
    require(!is || text.find_first_of(" \t\r\n/?#@\\\"<>^`{|}") == std::string::npos);

    const std::string in_field = "GET / HTTP/1.1\r\nHost: " + text + "\r\n\r\n";
    const http::options limits{.max_header_bytes = 3 * size + 100};
    http::request_head head;
    const bool accepted = http::parse_request_head(in_field, limits, head).is == state::complete;
    require(!is || (accepted && head.authority == text));
    require(is || !accepted || head.authority != text);

    const std::string in_target = "GET http://" + text + "/ HTTP/1.1\r\nHost: a\r\n\r\n";
    const bool routed = http::parse_request_head(in_target, limits, head).is == state::complete;
    require(!is || (routed && head.authority == text && head.path == "/"));
    require(is || !routed || head.authority != text);
    return 0;
}
