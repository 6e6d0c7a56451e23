// `finished` is the end of a request, as the machine that has served it reports it.
#pragma once

#include "gateway/http/grpc/grpc_status.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::limits {

// Status that logs and metrics have for a request whose client left before there was a response.
inline constexpr int client_left = 499;

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
    // True if the client did not wait for the end of the response: it left, or the time was over
    // that it had set. No response then corrects a charge.
    bool given_up = false;
    // Outcome for a client of gRPC, if the gateway has responded so, or has cut the response.
    std::optional<http::grpc_status> grpc{};
    // Trailers of the upstream's response, if that has ended. Valid during the call.
    std::string_view trailers{};

    // Returns the status that logs, metrics and traces have.
    int shown_status() const { return status != 0 ? status : client_left; }
};

}  // namespace gateway::limits
