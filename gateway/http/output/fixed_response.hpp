// A response that is the same for every request of a route, but for its Location.
#pragma once

#include <string>
#include <string_view>

namespace gateway::http {

struct fixed_response {
    // 200 to 599.
    int status = 200;
    // Empty: the response has no Content-Type.
    std::string content_type{};
    std::string body{};
    // Whether nobody may keep it for later requests.
    bool no_store = false;

    // What follows from the rest: the lines that say it, but for the body.
    std::string start_line{};
    std::string content_lines{};

    // Fills in what follows; the last step of making one.
    void finish();

    // Whether there is never a body (RFC 9110 §15).
    bool is_bodiless() const { return status == 204 || status == 205 || status == 304; }
};

// The phrase of a status (RFC 9110 §15 and others in IANA's registry); empty: it is not known.
std::string_view reason_of(int status);

}  // namespace gateway::http
