#include "gateway/http/message.hpp"

namespace gateway::http {

void request_head::clear()
{
    method = target = path = query = authority = {};
    version = http_version::http_1_1;
    keep_alive = true;
    absolute_form = expects_continue = has_via = names_client = websocket = false;
    malformed_trace = accepts_trailers = nominates_trailers = grpc = false;
    trace_parent = grpc_timeout = {};
    max_forwards.reset();
    respelt_length.reset();
    body = {};
    fields.clear();
    size = 0;
}

void response_head::clear()
{
    start_line = {};
    status = 0;
    reason = {};
    version = http_version::http_1_1;
    keep_alive = true;
    has_date = content_may_follow = nominates_trailers = false;
    respelt_length.reset();
    announced_length.reset();
    body = {};
    fields.clear();
    size = 0;
}

}  // namespace gateway::http
