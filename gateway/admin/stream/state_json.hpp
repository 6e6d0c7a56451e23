// The functions here describe the present state for the stream's sections. Pure.
#pragma once

#include "gateway/admin/stream/findings.hpp"
#include "gateway/admin/stream/sections.hpp"
#include "gateway/limits/reports/recent_rejections.hpp"

#include <boost/json/value.hpp>

#include <span>

namespace gateway::admin {

boost::json::value limits_json(const policy::policy& p);

// Most buckets that top_json() describes.
inline constexpr std::size_t most_top_buckets = 40;

// Describes the buckets of the last seconds, the busiest ones if there are too many.
boost::json::value top_json(
    const policy::policy& p, std::span<const recent_top::bucket> top, audience for_whom
);

boost::json::value findings_json(
    const policy::policy& p, std::span<const finding> found, audience for_whom
);

boost::json::value stores_json(
    const policy::policy& p,
    const telemetry::totals& now,
    const store_states& states,
    const process_report& process
);

boost::json::value servers_json(
    std::span<const telemetry::server_figures> servers, const telemetry::totals& now
);

boost::json::value certificates_json(std::span<const telemetry::certificate_figures> all);

boost::json::value process_json(
    const process_report& r, const telemetry::connection_totals& connections, audience for_whom
);

// `at` is the moment of the rejection in Unix time.
boost::json::object rejection_json(
    const policy::policy& p, const limits::rejection& r, base::duration at, audience for_whom
);

}  // namespace gateway::admin
