// Cuts one element off the right end of a forwarding header's line, and reads the address in it. It
// is pure, and allocates nothing. The parsers return nothing if there is no usable address.
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
// Quotes are read from the right. A client that sends an unbalanced quote further left therefore
// cannot change how an element is read that a proxy appended after it.
std::string_view cut_last_element(list_form form, std::string_view& line);

// Parses "203.0.113.7", "203.0.113.7:80", "2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:80".
// Refuses the unspecified addresses and port 0, which are nobody's.
std::optional<base::ip_address> parse_plain_element(std::string_view element);

// Parses the node of the one `for` parameter: `for=203.0.113.7;proto=http`,
// `for="[2001:db8::7]:80"`. Refuses "unknown" and obfuscated nodes, which are no address.
std::optional<base::ip_address> parse_forwarded_element(std::string_view element);

}  // namespace gateway::identity
