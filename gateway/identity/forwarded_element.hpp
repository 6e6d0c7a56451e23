// One element of a forwarding header: cutting it off the right end of a line, and reading the
// address in it. Pure, without allocation. Nothing is an element that is no usable address.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <optional>
#include <string_view>

namespace gateway::identity {

// The syntax of a list: X-Forwarded-For and its like, or Forwarded of RFC 7239.
enum class list_form { plain, forwarded };

// Cuts the last element off `line` (at its last comma; of RFC 7239, the last outside quotes) and
// returns it, trimmed, perhaps empty.
//
// Quotes are read from the right, so what a client sent further left, an unbalanced quote say,
// cannot change how an element is read that a proxy appended after it.
std::string_view cut_last_element(list_form form, std::string_view& line);

// "203.0.113.7", "203.0.113.7:80", "2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:80".
// The unspecified addresses and port 0 are nobody's.
std::optional<base::ip_address> parse_plain_element(std::string_view element);

// `for=203.0.113.7;proto=http`, `for="[2001:db8::7]:80"`: the node of the one `for` parameter.
// "unknown" and obfuscated nodes are no address.
std::optional<base::ip_address> parse_forwarded_element(std::string_view element);

}  // namespace gateway::identity
