// The client's side of an exchange, whatever carries its requests: where a response goes, part by
// part, in this order:
//
//   interim_response* response response_content* response_end
//
// After response() it may break off at any point; who broke it off says so by other means.
// Calls never come back into the caller.
#pragma once

#include "gateway/http/message.hpp"

#include <string_view>

namespace gateway::proxy {

class reply_port {
public:
    // A 1xx response, other than 101.
    virtual void interim_response(const http::response_head& head) = 0;
    virtual void response(const http::response_head& head) = 0;
    // Not empty; valid during the call.
    virtual void response_content(std::string_view content) = 0;
    virtual void response_end() = 0;

protected:
    ~reply_port() = default;
};

}  // namespace gateway::proxy
