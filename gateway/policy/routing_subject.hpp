// What a route is chosen by.
#pragma once

#include "gateway/http/field.hpp"

#include <span>
#include <string_view>

namespace gateway::policy {

struct routing_subject {
    std::string_view method;
    // The normalised host.
    std::string_view host;
    // The normalised path; "*" for OPTIONS *.
    std::string_view path;
    // Whether its scheme is https.
    bool secure = false;
    std::span<const http::field> fields{};
};

}  // namespace gateway::policy
