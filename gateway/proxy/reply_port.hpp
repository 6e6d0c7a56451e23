// `reply_port` is the client's side of an exchange, whatever carries its requests. It takes a
// response part by part, in this order:
//
//   interim_response* response response_content* response_end
//
// A response may break off at any point after response(). The one who broke it off reports that by
// other means. Calls never come back into the caller.
#pragma once

#include "gateway/http/message.hpp"

#include <string_view>

namespace gateway::proxy {

class reply_port {
public:
    // Takes a 1xx response, other than 101.
    virtual void interim_response(const http::response_head& head) = 0;
    virtual void response(const http::response_head& head) = 0;
    // Takes content, which is not empty and valid during the call.
    virtual void response_content(std::string_view content) = 0;
    // Takes the end. `trailers`: the field lines of the trailer section that may pass, each
    // "name: value\r\n"; empty for none. Valid during the call.
    virtual void response_end(std::string_view trailers) = 0;

protected:
    ~reply_port() = default;
};

}  // namespace gateway::proxy
