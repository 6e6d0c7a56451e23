#include "gateway/http/grpc/grpc_response.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/trailers.hpp"

namespace gateway::http {

namespace {

void read_if_status(const field& f, std::optional<grpc_status>& out)
{
    if (base::equal_ignoring_case(f.name, "grpc-status")) {
        out = read_grpc_status(f.value);
    }
}

}  // namespace

void grpc_response::read(const response_head& head)
{
    status_ = head.status;
    of_head_.reset();
    for (const field& f : head.fields) {
        read_if_status(f, of_head_);
    }
}

grpc_status grpc_response::ended(std::string_view trailers) const
{
    std::optional<grpc_status> found = of_head_;
    for_each_trailer(trailers, [&found](const field& f) { read_if_status(f, found); });
    return found.value_or(implied_grpc_status(status_));
}

}  // namespace gateway::http
