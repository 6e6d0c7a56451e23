// Which bytes may stand in a name, a header, a host or a path of the configuration. Pure.
#pragma once

#include <string_view>

namespace gateway::config {

// Of a limit, store or upstream: 1 to 64 of A-Z a-z 0-9 _ . - (they go into headers and metrics).
bool is_name(std::string_view text);

// RFC 9110 token of 1 to `max` bytes.
bool is_token(std::string_view text, std::size_t max);

// Printable ASCII without spaces, at most `max` bytes; may be empty.
bool is_visible(std::string_view text, std::size_t max);

// A host name or IPv4 address: 1 to 253 letters, digits, '-', '_' and '.', no empty label.
bool is_host_name(std::string_view text);

}  // namespace gateway::config
