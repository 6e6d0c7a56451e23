// The admin API's requests and responses as HTTP.
#pragma once

#include "gateway/probes/control_http.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace gateway::admin {

namespace beast = boost::beast;

using admin_request = beast::http::request<beast::http::string_body>;

// Largest head and largest body of a request. A larger head is answered with 431, a larger body
// with 413.
inline constexpr std::size_t max_admin_head_bytes = std::size_t{8} * 1024;
inline constexpr std::size_t max_admin_body_bytes = std::size_t{64} * 1024;

// Returns a response that must never be cached, with the present date.
probes::control_response reply(beast::http::status code, std::string_view type, std::string body);

// Compresses the body of `r` with gzip if the request allows that.
probes::control_response compressed_for(const admin_request& asked, probes::control_response r);

// Returns a 200 response with one line of JSON.
probes::control_response reply(const boost::json::value& body);

// Returns problem details (RFC 9457). `detail` is a sentence for people.
probes::control_response problem(beast::http::status code, std::string_view detail);

// Return the target's path, and its query without the '?'.
std::string_view path_of(const admin_request& asked);
std::string_view query_of(const admin_request& asked);

// Returns the host and port of the request: those of a whole URL, else those of Host. Empty if it
// names none.
std::string_view host_of(const admin_request& asked);

// Returns the value of a field, or an empty text if the field is missing or comes twice.
std::string_view only_field(const admin_request& asked, beast::http::field name);
std::string_view only_field(const admin_request& asked, std::string_view name);

}  // namespace gateway::admin
