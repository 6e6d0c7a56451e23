#include "gateway/limits/request_record.hpp"

#include "gateway/identity/client_address.hpp"

namespace gateway::limits {

void request_record::arrive(
    const std::shared_ptr<const policy_view>& to,
    const base::ip_address& peer,
    bool secure,
    const intake::client_tls* client_tls,
    base::instant now
)
{
    by.secure = secure;
    by.tls = client_tls;
    // The content of the last request is gone.
    by.content = {};
    if (view != to || by.peer != peer) {  // otherwise the last request's values still hold
        view = to;
        by.peer = peer;
        peer_text = peer.to_string();
        by.peer_trusted = identity::is_trusted(view->policy->client, peer);
    }
    begin(now);
}

void request_record::adopt(const std::shared_ptr<const policy_view>& to)
{
    view = to;
    by.peer_trusted = identity::is_trusted(view->policy->client, by.peer);
    route = nullptr;
    metrics = view->no_route;
    log_fields.clear();
}

}  // namespace gateway::limits
