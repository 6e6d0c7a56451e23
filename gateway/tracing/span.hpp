// `span` is a piece of work on behalf of a request, with a beginning, an end and attributes, as
// OpenTelemetry has it. Plain value.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/utf8.hpp"
#include "gateway/http/trace_parent.hpp"
#include "gateway/tracing/options.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gateway::tracing {

// An attribute's name is a constant text, or lives as long as the process.
struct attribute {
    std::string_view name;
    std::variant<std::string, std::int64_t> value;
};

struct span {
    // Values of OTLP's enumeration SpanKind.
    enum class kind : std::uint8_t { internal = 1, server = 2, client = 3 };

    http::trace_id trace{};
    std::uint64_t id = 0;
    // 0: the trace begins with this span.
    std::uint64_t parent = 0;
    kind is = kind::internal;
    std::string name{};
    // Unix time.
    base::duration begin{0};
    base::duration end{0};
    // True if the work failed, and for a server's span if the server is to blame.
    bool failed = false;
    std::vector<attribute> attributes{};

    // Adds a text, which is cut at max_attribute_bytes; an empty one is left out.
    void add(std::string_view attribute_name, std::string_view text)
    {
        if (!text.empty()) {
            const std::string_view kept = base::utf8_prefix(text, max_attribute_bytes);
            attributes.push_back({attribute_name, std::string{kept}});
        }
    }

    void add(std::string_view attribute_name, std::int64_t number)
    {
        attributes.push_back({attribute_name, number});
    }
};

}  // namespace gateway::tracing
