// `accepts_gzip` and `accepts_openmetrics` read what a client of the admin API accepts. Pure.
#pragma once

#include <string_view>

namespace gateway::admin {

// True if a field Accept-Encoding of this value allows gzip (RFC 9110 §12.5.3).
bool accepts_gzip(std::string_view codings);

// True if a field Accept of this value names OpenMetrics (RFC 9110 §12.5.1).
bool accepts_openmetrics(std::string_view types);

}  // namespace gateway::admin
