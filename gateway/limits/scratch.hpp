// `scratch` is memory that every event of a worker's clients needs for a moment, and none keeps.
// Each part but `out` may hold anything, so its user clears it first.
// Ownership: the worker's.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/intake/routed_request.hpp"

#include <string>

namespace gateway::limits {

struct scratch {
    // Bytes to be sent, under construction; empty between events.
    std::string out;

    http::request_head request;
    // The request that a decide listener is asked about.
    http::request_head asked;
    http::response_head response;

    intake::intake_memory intake;
};

}  // namespace gateway::limits
