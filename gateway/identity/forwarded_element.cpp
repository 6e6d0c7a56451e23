#include "gateway/identity/forwarded_element.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace gateway::identity {

namespace {

using base::ip_address;

constexpr auto npos = std::string_view::npos;

std::string_view take_token(std::string_view& text)
{
    std::size_t length = 0;
    while (length < text.size() && base::is_token_char(text[length])) {
        ++length;
    }
    const std::string_view token = text.substr(0, length);
    text.remove_prefix(length);
    return token;
}

std::optional<ip_address> specified(const std::optional<ip_address>& address)
{
    if (!address || *address == ip_address{} || *address == ip_address::v4(0)) {
        return std::nullopt;
    }
    return address;
}

// True for ":" and a port, in a list of bare addresses.
bool is_plain_port(std::string_view text)
{
    const auto port = base::parse_decimal(text.substr(1), 65535);
    return text.front() == ':' && text.size() <= 6 && port && *port > 0;
}

// True for ":" and a node-port of RFC 7239 §6: up to five digits, or "_" and letters, digits, '.',
// '_' or '-'. The port is not used.
bool is_node_port(std::string_view text)
{
    constexpr auto obfuscated = base::alphanumeric_and("._-");
    const std::string_view port = text.substr(1);
    if (!port.starts_with('_')) {
        return text.front() == ':' && text.size() <= 6 && base::parse_decimal(port, 65535);
    }
    return text.front() == ':' && port.size() > 1 &&
           std::all_of(port.begin(), port.end(), [&](char c) {
               return obfuscated[static_cast<unsigned char>(c)];
           });
}

// Parses a node in the forms of both headers: an IPv4 or a bracketed IPv6 address, then a port.
template <typename Is_port>
std::optional<ip_address> parse_node(std::string_view node, Is_port is_port)
{
    if (!node.starts_with('[')) {
        const std::size_t colon = node.find(':');
        const std::string_view suffix = colon == npos ? std::string_view{} : node.substr(colon);
        return suffix.empty() || is_port(suffix)
                   ? specified(ip_address::parse(node.substr(0, colon)))
                   : std::nullopt;
    }
    const std::size_t close = node.find(']');
    if (close == npos || (close + 1 != node.size() && !is_port(node.substr(close + 1)))) {
        return std::nullopt;
    }
    const std::string_view inside = node.substr(1, close - 1);
    const bool is_v6_text = inside.find(':') != npos;
    return is_v6_text ? specified(ip_address::parse(inside)) : std::nullopt;
}

// Returns the position of the quote that opens the string which the quote at `closing` closes. A
// quote behind an odd number of backslashes is escaped, and part of the string.
std::size_t opening_quote(std::string_view line, std::size_t closing)
{
    std::size_t i = closing;
    while (i > 0) {
        --i;
        if (line[i] != '"') {
            continue;
        }
        std::size_t first_backslash = i;
        while (first_backslash > 0 && line[first_backslash - 1] == '\\') {
            --first_backslash;
        }
        if ((i - first_backslash) % 2 == 0) {
            return i;
        }
        i = first_backslash;
    }
    return npos;
}

std::size_t last_comma(std::string_view line)
{
    const void* const found = ::memrchr(line.data(), ',', line.size());
    return found == nullptr
               ? npos
               : static_cast<std::size_t>(static_cast<const char*>(found) - line.data());
}

std::size_t last_comma_outside_quotes(std::string_view line)
{
    std::size_t i = line.size();
    while (i > 0) {
        --i;
        if (line[i] == ',') {
            return i;
        }
        if (line[i] == '"') {
            i = opening_quote(line, i);
            if (i == npos) {
                return npos;
            }
        }
    }
    return npos;
}

// Longest node: a bracketed IPv6 address with a dotted quad, and an obfuscated port of some length.
// Anything longer is no address.
constexpr std::size_t max_node = 128;

struct parameter_value {
    std::array<char, max_node> text;
    std::size_t length = 0;  // Counts the whole value, of which only max_node bytes are kept.

    void add(char c)
    {
        if (length < text.size()) {
            text[length] = c;
        }
        ++length;
    }

    std::optional<ip_address> node() const
    {
        return length <= text.size() ? parse_node({text.data(), length}, is_node_port)
                                     : std::nullopt;
    }
};

// Takes a quoted-string (RFC 9110 §5.6.4) at its opening quote. Returns false if it does not end.
bool take_quoted(std::string_view& text, parameter_value& value)
{
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return true;
        }
        if (text[i] == '\\' && ++i == text.size()) {
            return false;
        }
        value.add(text[i]);
    }
    return false;
}

bool take_value(std::string_view& text, parameter_value& value)
{
    if (text.starts_with('"')) {
        return take_quoted(text, value);
    }
    const std::string_view token = take_token(text);
    for (const char c : token) {
        value.add(c);
    }
    return !token.empty();
}

void skip_blanks(std::string_view& text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Takes one name=value, with the value of "for" into `node`. Returns false if it is malformed, or
// is a second "for".
bool take_pair(std::string_view& element, std::optional<parameter_value>& node)
{
    const std::string_view name = take_token(element);
    if (name.empty() || !element.starts_with('=')) {
        return false;
    }
    element.remove_prefix(1);
    parameter_value value;
    if (!take_value(element, value)) {
        return false;
    }
    if (base::equal_ignoring_case(name, "for")) {
        if (node) {
            return false;
        }
        node = value;
    }
    skip_blanks(element);
    return true;
}

}  // namespace

std::string_view cut_last_element(list_form form, std::string_view& line)
{
    const std::size_t comma =
        form == list_form::plain ? last_comma(line) : last_comma_outside_quotes(line);
    const std::string_view element = comma == npos ? line : line.substr(comma + 1);
    line = comma == npos ? std::string_view{} : line.substr(0, comma);
    return base::trimmed(element);
}

std::optional<ip_address> parse_plain_element(std::string_view element)
{
    const auto bare = ip_address::parse(element);
    return bare ? specified(bare) : parse_node(element, is_plain_port);
}

std::optional<ip_address> parse_forwarded_element(std::string_view element)
{
    std::optional<parameter_value> node;
    while (true) {
        skip_blanks(element);
        const bool is_empty_pair = element.empty() || element.front() == ';';
        if (!is_empty_pair && !take_pair(element, node)) {
            return std::nullopt;
        }
        if (element.empty()) {
            return node ? node->node() : std::nullopt;
        }
        if (element.front() != ';') {
            return std::nullopt;
        }
        element.remove_prefix(1);
    }
}

}  // namespace gateway::identity
