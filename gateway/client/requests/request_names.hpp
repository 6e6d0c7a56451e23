// Names by which a request, or a call of a service, is found in everybody's logs: its id and its
// trace.
// Thread: that of `ids`.
#pragma once

#include "gateway/client/requests/id_source.hpp"
#include "gateway/limits/request_record.hpp"

namespace gateway::client {

// Gives the request an id, before its head is known.
void give_id(limits::request_record& to, id_source& ids, base::instant now);

// Keeps the X-Request-Id of a trusted peer in place of that id, and begins or goes on with a trace
// if requests are traced.
// Requires: the record's view is that of the request.
void take_names(limits::request_record& to, const http::request_head& head, id_source& ids);

}  // namespace gateway::client
