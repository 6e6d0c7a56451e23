// What a session_state does as the owner of a tunnel: a WebSocket that its client asked for and the
// upstream granted.
#include "gateway/server/session_state.hpp"

namespace gateway::server {

using proxy::tunnel_side;

// Counted and logged as the request it began with, whose bodies are what it carries.
void session_state::switched(const http::response_head& head, std::string_view rest)
{
    http::append_forwarded_response(head, {.limits = port_.limits_said()}, port_.scratch());
    status_ = head.status;
    flush();
    exchange_.forget();
    phase_ = phase::tunnelling;
    tunnel_.start();
    port_.tunnel_begins();
    tunnel_.bytes(tunnel_side::upstream, rest);
}

void session_state::upstream_drained()
{
    if (phase_ == phase::tunnelling) {
        tunnel_.drained();
    }
}

void session_state::tunnel_send(tunnel_side to, std::string_view bytes)
{
    port_.tunnel_carries(proxy::other(to), bytes.size());
    if (to == tunnel_side::client) {
        port_.send_client(bytes, {});
    } else {
        port_.send_upstream(bytes, {});
    }
}

void session_state::tunnel_finish(tunnel_side to)
{
    if (to == tunnel_side::client) {
        port_.end_sending();
    } else {
        port_.end_sending_upstream();
    }
}

bool session_state::tunnel_blocked(tunnel_side to) const
{
    return to == tunnel_side::client ? port_.client_blocked() : port_.upstream_blocked();
}

void session_state::tunnel_over(bool cut, std::string_view why)
{
    request_bytes_ = tunnel_.bytes_from(tunnel_side::client);
    response_bytes_ = tunnel_.bytes_from(tunnel_side::upstream);
    port_.request_ends({status_, request_bytes_, response_bytes_, why});
    port_.release(session_port::parting::close);
    close(cut);
}

}  // namespace gateway::server
