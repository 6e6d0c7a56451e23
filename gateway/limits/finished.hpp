// `finished` is the end of a request, as the machine that has served it reports it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gateway::limits {

struct finished {
    // Status of the response; 0: the client went away before there was one.
    int status = 0;

    std::uint64_t request_bytes = 0;
    std::uint64_t response_bytes = 0;
    // Reason why the gateway answered itself or broke off.
    std::string_view error;
    // Key of the timeout or bound that ended it, such as "http.body_timeout"; empty: none did.
    std::string_view bound{};
    // True if the configuration asks for the status (admission::intended).
    bool intended = false;
    // True if it became a tunnel.
    bool tunnelled = false;
};

}  // namespace gateway::limits
