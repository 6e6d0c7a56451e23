#include "gateway/client/requests/exchange_refusals.hpp"

namespace gateway::client {

limits::admission exchange_refusal(proxy::failure why, std::string_view bound)
{
    const int status = proxy::status_for(why);
    const base::duration wait = std::chrono::seconds{status == 503 ? 1 : 0};
    limits::admission a = limits::refusal(status, proxy::detail_for(why), wait);
    a.bound = bound.empty() ? proxy::bound_for(why) : bound;
    a.timed_out = status == 504 && proxy::is_after_sending(why);
    a.intended = why == proxy::failure::websocket;
    return a;
}

limits::admission refusal_by_route_time()
{
    limits::admission a = limits::refusal(504, "the request took longer than its route allows");
    a.bound = route_bound;
    a.timed_out = true;
    return a;
}

limits::admission refusal_by_client_time()
{
    limits::admission a = limits::refusal(504, "the request took longer than its client allows");
    a.timed_out = a.given_up = a.intended = true;
    return a;
}

}  // namespace gateway::client
