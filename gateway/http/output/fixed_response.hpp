// `fixed_response` is the same response to every request of a route, except for its Location.
#pragma once

#include <string>
#include <string_view>

namespace gateway::http {

struct fixed_response {
    // Status code, 200 to 599.
    int status = 200;
    // Media type of the body. Empty: the response has no Content-Type.
    std::string content_type{};
    std::string body{};
    // True if nobody may store it for later requests.
    bool no_store = false;

    // The lines that follow from the members above, but for the body.
    std::string start_line{};
    std::string content_lines{};

    // Fills in these lines, as the last step of making a response.
    void finish();

    // True if the status never has a body (RFC 9110 §15).
    bool is_bodiless() const { return status == 204 || status == 205 || status == 304; }
};

// Returns the reason phrase of a status (RFC 9110 §15 and others in IANA's registry), or an empty
// text if it is unknown.
std::string_view reason_of(int status);

}  // namespace gateway::http
