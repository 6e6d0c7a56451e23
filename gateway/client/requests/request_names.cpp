#include "gateway/client/requests/request_names.hpp"

#include "gateway/http/request_id.hpp"

namespace gateway::client {

void give_id(limits::request_record& to, id_source& ids, base::instant now)
{
    const base::uuid_text made = ids.request_id(now);
    to.id.set({made.data(), made.size()});
}

void take_names(limits::request_record& to, const http::request_head& head, id_source& ids)
{
    if (to.by.peer_trusted) {
        if (const std::string_view vouched = http::vouched_request_id(head); !vouched.empty()) {
            to.id.set(vouched);
        }
    }
    if (to.view->sampling.on) {
        to.trace = tracing::context_of(head.trace_parent, to.view->sampling, [&ids] {
            return ids.random();
        });
    }
}

}  // namespace gateway::client
