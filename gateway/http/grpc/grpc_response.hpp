// `grpc_response` finds the outcome of a gRPC call in its response, whose trailers have it, or
// whose head, if nothing follows that (trailers-only). Pure.
#pragma once

#include "gateway/http/grpc/grpc_status.hpp"
#include "gateway/http/message.hpp"

#include <optional>
#include <string_view>

namespace gateway::http {

class grpc_response {
public:
    // Reads the head of the response.
    void read(const response_head& head);

    // Returns the outcome, as the response has ended with this trailer section. A response without
    // one of its own has what its status implies.
    grpc_status ended(std::string_view trailers) const;

    // Status of HTTP; 0: there is no head.
    int status() const { return status_; }

private:
    int status_ = 0;
    std::optional<grpc_status> of_head_;
};

}  // namespace gateway::http
