// A request that is told of, and never came.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gateway::intake {

struct told_request {
    std::string method = "GET";
    // "/path?query", or whole with scheme and host.
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    // The text of an address.
    std::string peer = "127.0.0.1";
};

}  // namespace gateway::intake
