// `hypothetical_request` describes a request that nobody has sent, for `explain`.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gateway::intake {

struct hypothetical_request {
    std::string method = "GET";
    // A path with its query ("/path?query"), or a whole URL with scheme and host.
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    // Content; empty: there is none. It is JSON unless a header names another type.
    std::string content{};
    // The peer's address, as text.
    std::string peer = "127.0.0.1";
};

}  // namespace gateway::intake
