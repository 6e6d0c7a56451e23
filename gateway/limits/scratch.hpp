// Memory that every event of a worker's clients needs for a moment, and none keeps. Owned by the
// worker; each part but `out` may hold anything, so whoever uses it clears it first.
#pragma once

#include "gateway/http/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::limits {

struct scratch {
    // What is to be sent, under construction: empty between events.
    std::string out;

    http::request_head request;
    // The request that a question is about.
    http::request_head asked;
    http::response_head response;

    // The host and the path of a request as matching and keys spell them.
    std::string host;
    std::string path;
    // The values of the header that names the client.
    std::vector<std::string_view> client_lines;
};

}  // namespace gateway::limits
