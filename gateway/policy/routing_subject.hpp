// `routing_subject` holds the parts of a request by which its route is chosen.
#pragma once

#include "gateway/content/request_values.hpp"
#include "gateway/http/field.hpp"

#include <span>
#include <string_view>

namespace gateway::policy {

struct routing_subject {
    std::string_view method;
    // The normalized host.
    std::string_view host;
    // The normalized path, or "*" for OPTIONS *.
    std::string_view path;
    // True if the request's scheme is https.
    bool secure = false;
    std::span<const http::field> fields{};
    content::request_content content{};
};

}  // namespace gateway::policy
