// `reported` reports in the log if a coroutine that runs for long has ended by an exception, which
// none should.
#pragma once

#include "gateway/telemetry/log.hpp"

#include <exception>
#include <string>
#include <utility>

namespace gateway::net {

// Returns the token for co_spawn, in place of asio::detached. `what` begins the line in the log.
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
