// `encode_spans` encodes spans for a collector, in the JSON form of OTLP 1.x
// (opentelemetry.io/docs/specs/otlp). Pure.
#pragma once

#include "gateway/tracing/span.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::tracing {

// `resource` is who records the spans.
struct resource {
    std::string service_name;
    std::string version;
    // Name of this process among those of the service.
    std::string instance;
};

// Returns an ExportTraceServiceRequest: ids in hexadecimal, and 64-bit numbers as texts.
std::string encode_spans(std::span<const span> spans, const resource& from);

// Returns how many spans the collector has rejected, by the body of its response of status 200. A
// body that is no such response rejects nothing.
std::uint64_t rejected_spans(std::string_view body);

}  // namespace gateway::tracing
