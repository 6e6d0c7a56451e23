#include "gateway/base/proxy_header.hpp"

#include "gateway/base/crc32c.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gateway::base {

namespace {

using verdict = proxy_header::verdict;
using namespace std::string_view_literals;

constexpr std::string_view line_begin = "PROXY ";
constexpr std::string_view signature = "\r\n\r\n\0\r\nQUIT\n"sv;

// Layout of version 2: signature, version and command, family and transport, length of the rest.
constexpr std::size_t fixed_bytes = 16;
constexpr unsigned version = 2;
constexpr unsigned command_local = 0;
constexpr unsigned command_proxy = 1;
constexpr unsigned family_inet = 1;
constexpr unsigned family_inet6 = 2;
constexpr unsigned family_unix = 3;
constexpr unsigned transport_stream = 1;
constexpr unsigned transport_datagram = 2;

// A field behind the addresses has a type, the length of its value, and the value.
constexpr std::size_t field_begin_bytes = 3;
constexpr unsigned checksum_type = 3;
constexpr std::size_t checksum_bytes = 4;

constexpr proxy_header malformed{.is = verdict::malformed};

// True if one text is the beginning of the other.
bool agree(std::string_view a, std::string_view b)
{
    const std::size_t both = std::min(a.size(), b.size());
    return a.substr(0, both) == b.substr(0, both);
}

// ---- version 1 -------------------------------------------------------------------------------

// Takes the word before the next space off the front of `line`.
std::string_view next_word(std::string_view& line)
{
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

std::optional<std::uint16_t> port_of(std::string_view text)
{
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    const bool padded = text.size() > 1 && text.front() == '0';
    if (error != std::errc{} || end != text.data() + text.size() || padded) {
        return std::nullopt;
    }
    return port;
}

// Parses "CLIENT SERVER PORT PORT", each address in the text form of its family.
std::optional<connection_ends> ends_of(std::string_view line, bool v6)
{
    const auto spaces = std::count(line.begin(), line.end(), ' ');
    const std::string_view from = next_word(line);
    const std::string_view to = next_word(line);
    const auto client = ip_address::parse(from);
    const auto server = ip_address::parse(to);
    const auto client_port = port_of(next_word(line));
    const auto server_port = port_of(line);
    const auto is_v6 = [](std::string_view text) { return text.find(':') != text.npos; };
    if (spaces != 3 || !client || !server || !client_port || !server_port || is_v6(from) != v6 ||
        is_v6(to) != v6) {
        return std::nullopt;
    }
    return connection_ends{{*client, *client_port}, {*server, *server_port}};
}

proxy_header read_line(std::string_view begin)
{
    const std::size_t end = begin.substr(0, proxy_header::max_line_bytes).find('\n');
    if (end == std::string_view::npos) {
        return begin.size() < proxy_header::max_line_bytes ? proxy_header{} : malformed;
    }
    std::string_view line = begin.substr(0, end);
    if (!line.ends_with('\r')) {
        return malformed;
    }
    line.remove_prefix(line_begin.size());
    line.remove_suffix(1);
    const std::string_view family = next_word(line);
    if (family == "UNKNOWN") {
        return {.is = verdict::whole, .size = end + 1};
    }
    const bool v6 = family == "TCP6";
    const auto ends = v6 || family == "TCP4" ? ends_of(line, v6) : std::nullopt;
    return ends ? proxy_header{.is = verdict::whole, .size = end + 1, .ends = ends} : malformed;
}

// ---- version 2 -------------------------------------------------------------------------------

unsigned byte_at(std::string_view bytes, std::size_t i)
{
    return static_cast<std::uint8_t>(bytes[i]);
}

// Returns the number at byte `i`, the most significant byte first.
std::uint32_t number_at(std::string_view bytes, std::size_t i, std::size_t size)
{
    std::uint32_t number = 0;
    for (std::size_t k = 0; k < size; ++k) {
        number = number << 8 | byte_at(bytes, i + k);
    }
    return number;
}

std::size_t address_bytes(unsigned family)
{
    constexpr std::array<std::size_t, 4> both_ends{0, 2 * 4 + 2 * 2, 2 * 16 + 2 * 2, 2 * 108};
    return both_ends[family];
}

// Reads two addresses, then two ports.
connection_ends ends_at(std::string_view bytes, bool v6)
{
    const std::size_t size = v6 ? 16 : 4;
    const auto address = [&](std::size_t at) {
        if (!v6) {
            return ip_address::v4(number_at(bytes, at, size));
        }
        ip_address::bytes octets{};
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, octets.begin());
        return ip_address(octets);
    };
    const auto port = [&](std::size_t i) {
        return static_cast<std::uint16_t>(number_at(bytes, 2 * size + 2 * i, 2));
    };
    return {{address(0), port(0)}, {address(size), port(1)}};
}

// True if the checksum at `at` is that of the header with zeros in the checksum's place.
bool checksum_fits(std::string_view header, std::size_t at)
{
    std::uint32_t sum = crc32c(header.substr(0, at));
    sum = crc32c("\0\0\0\0"sv, sum);
    sum = crc32c(header.substr(at + checksum_bytes), sum);
    return sum == number_at(header, at, checksum_bytes);
}

// True if the fields from `at` on are whole and any checksum among them is right.
bool fields_are_sound(std::string_view header, std::size_t at)
{
    while (at < header.size()) {
        if (header.size() - at < field_begin_bytes) {
            return false;
        }
        const unsigned type = byte_at(header, at);
        const std::size_t size = number_at(header, at + 1, 2);
        at += field_begin_bytes;
        if (header.size() - at < size) {
            return false;
        }
        if (type == checksum_type && (size != checksum_bytes || !checksum_fits(header, at))) {
            return false;
        }
        at += size;
    }
    return true;
}

proxy_header read_binary(std::string_view begin)
{
    if (begin.size() < fixed_bytes) {
        return {};
    }
    const unsigned command = byte_at(begin, 12) & 0xf;
    const unsigned family = byte_at(begin, 13) >> 4;
    const unsigned transport = byte_at(begin, 13) & 0xf;
    const std::size_t size = fixed_bytes + number_at(begin, 14, 2);
    if (byte_at(begin, 12) >> 4 != version || command > command_proxy ||
        size > proxy_header::max_bytes) {
        return malformed;
    }
    if (begin.size() < size) {
        return {};
    }
    proxy_header whole{.is = verdict::whole, .size = size};
    if (command == command_local) {
        return whole;
    }
    if (family > family_unix || transport > transport_datagram) {
        return malformed;
    }
    if (family == 0 || transport == 0) {
        return whole;
    }
    const std::string_view header = begin.substr(0, size);
    const std::size_t fields = fixed_bytes + address_bytes(family);
    if (size < fields || !fields_are_sound(header, fields)) {
        return malformed;
    }
    if (family != family_unix) {
        whole.ends = ends_at(header.substr(fixed_bytes), family == family_inet6);
    }
    return whole;
}

void put(std::string& to, unsigned number, int bytes)
{
    for (int i = bytes - 1; i >= 0; --i) {
        to += static_cast<char>(number >> (8 * i) & 0xff);
    }
}

}  // namespace

proxy_header read_proxy_header(std::string_view begin)
{
    if (agree(begin, signature)) {
        return read_binary(begin);
    }
    return agree(begin, line_begin) ? read_line(begin) : malformed;
}

std::string proxy_header_of(const std::optional<connection_ends>& ends)
{
    std::string header{signature};
    put(header, version << 4 | (ends ? command_proxy : command_local), 1);
    if (!ends) {
        put(header, 0, 1 + 2);
        return header;
    }
    // An IPv4 address next to an IPv6 one is written in its IPv4-mapped form.
    const bool v6 = !ends->client.address.is_v4() || !ends->server.address.is_v4();
    const unsigned family = v6 ? family_inet6 : family_inet;
    put(header, family << 4 | transport_stream, 1);
    put(header, static_cast<unsigned>(address_bytes(family)), 2);
    for (const endpoint& end : {ends->client, ends->server}) {
        const ip_address::bytes& octets = end.address.network_order();
        header.append(octets.begin() + (v6 ? 0 : 12), octets.end());
    }
    put(header, ends->client.port, 2);
    put(header, ends->server.port, 2);
    return header;
}

}  // namespace gateway::base
