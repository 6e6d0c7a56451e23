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

// Whether the last label is a number: then the host can be nothing but an IPv4 address, and what is
// none, 256.1.1.1 or 127.1, is not left to a resolver's fancy (WHATWG URL, host parsing).
bool ends_in_number(std::string_view host);

// A host name or IPv4 address: 1 to 253 letters, digits, '-', '_' and '.', no empty label.
bool is_host_name(std::string_view text);

}  // namespace gateway::config
