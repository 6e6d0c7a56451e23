#include "gateway/server/request.hpp"

#include "gateway/server/corrections.hpp"

namespace gateway::server {

void request::request_begins()
{
    account_.begin();
    upstream_.reset();
    admitter_.reset(env_.view, host_.peer());
    host_.begin_timeouts_anew();
}

admission request::admit(const http::request_head& head)
{
    account_.note(head, admitter_);
    return admitter_.admit(head, *this);
}

void request::decided(const verdict& v)
{
    env_.loop.refresh_now();
    state_.admitted(admitter_.conclude(v));
    host_.after_event(true);
}

void request::tunnel_begins()
{
    account_.tunnel_begins(admitter_);
}

void request::tunnel_carries(proxy::tunnel_side from, std::size_t bytes)
{
    account_.tunnel_carries(from, bytes);
}

void request::request_ends(const finished& f)
{
    admitter_.abandon();
    if (reservation& reserved = admitter_.reserved(); !reserved.empty() && f.status != 0) {
        reserved.responded(f.status, nullptr, env_.loop.now(), env_.corrections);
    }
    account_.end(f, admitter_, upstream_.so_far());
}

}  // namespace gateway::server
