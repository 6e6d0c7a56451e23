// How a coroutine is spawned that runs for long and should end by no exception: if one ends it all
// the same, the log says so.
#pragma once

#include "gateway/telemetry/log.hpp"

#include <exception>
#include <string>
#include <utility>

namespace gateway::net {

// To be told to co_spawn, in place of asio::detached. `what` begins the line in the log.
inline auto reported(std::string what)
{
    return [what = std::move(what)](const std::exception_ptr& thrown) {
        if (thrown != nullptr) {
            telemetry::log(
                telemetry::log_level::error,
                what + " has ended by an exception: restart the gateway"
            );
        }
    };
}

}  // namespace gateway::net
