// Rules for names, headers, hosts and paths in the configuration. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::config {

// True for a name, as limits, plans, stores and upstreams have: 1 to 64 of A-Z a-z 0-9 _ . - (it
// goes into headers and metrics).
bool is_name(std::string_view text);

// True for a token of RFC 9110 of 1 to `max` bytes.
bool is_token(std::string_view text, std::size_t max);

// Returns why no request that is served has this method, or an empty text if one may have it.
std::string complaint_about_method(const std::string& text);

// True for printable ASCII without spaces, at most `max` bytes. It may be empty.
bool is_visible(std::string_view text, std::size_t max);

// True for printable ASCII, spaces included, at most `max` bytes. It may be empty.
bool is_printable(std::string_view text, std::size_t max);

// True for such a text without spaces around it.
bool is_field_value(std::string_view text, std::size_t max);

// True for a URL of any scheme, and not for a path or an address.
bool is_url(std::string_view text);

// True if the last label is a number. The host can then be nothing but an IPv4 address. Others,
// 256.1.1.1 or 127.1, must not be left to the resolver's reading (WHATWG URL, host parsing).
bool ends_in_number(std::string_view host);

// True for an IPv4 address or a host name: 1 to 253 of A-Z a-z 0-9 - _ ., without empty labels.
bool is_host_name(std::string_view text);

}  // namespace gateway::config
