// `second_json` describes a second of the history as an event of the stream does
// (docs/admin-api.md). Counts that are zero are left out. Pure.
#pragma once

#include "gateway/telemetry/history/history.hpp"

#include <boost/json/object.hpp>

namespace gateway::admin {

// Requires: `s` is a second of `of`.
boost::json::object second_json(const telemetry::history& of, const telemetry::second& s);

}  // namespace gateway::admin
