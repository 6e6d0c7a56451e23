#include "gateway/http/message.hpp"

namespace gateway::http {

void request_head::clear()
{
    method = target = path = query = authority = {};
    absolute_form = http_1_0 = expects_continue = has_via = names_client = websocket = false;
    malformed_trace = false;
    max_forwards.reset();
    respelt_length.reset();
    body = {};
    fields.clear();
    connection.clear();
    size = 0;
}

void response_head::clear()
{
    start_line = {};
    status = 0;
    reason = {};
    http_1_0 = has_date = content_may_follow = false;
    respelt_length.reset();
    body = {};
    fields.clear();
    connection.clear();
    size = 0;
}

}  // namespace gateway::http
