// `kept_head` is a request's head that outlives the bytes that it was received in.
#pragma once

#include "gateway/http/message.hpp"

#include <string>

namespace gateway::client {

class kept_head {
public:
    explicit kept_head(const http::request_head& head);
    kept_head(kept_head&&) = delete;

    const http::request_head& head() const { return head_; }

    // Notes that the client has leave to send its content.
    void meet_expectation() { head_.expects_continue = false; }

private:
    std::string text_;
    http::request_head head_;
};

}  // namespace gateway::client
