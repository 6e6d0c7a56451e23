#include "gateway/proxy/tunnel_state.hpp"

namespace gateway::proxy {

void tunnel_state::start()
{
    from_ = {};
    is_open_ = true;
}

void tunnel_state::bytes(tunnel_side from, std::string_view bytes)
{
    if (is_open_ && !bytes.empty()) {
        side(from).bytes += bytes.size();
        port_.tunnel_send(other(from), bytes);
    }
}

void tunnel_state::ended(tunnel_side from, bool orderly)
{
    if (!orderly) {
        end(!side(from).ended,
            from == tunnel_side::client ? "the client reset the connection"
                                        : "the upstream reset the connection");
    } else if (is_open_ && !side(from).ended) {
        side(from).ended = true;
        port_.tunnel_finish(other(from));
        settle();
    }
}

void tunnel_state::drained()
{
    settle();
}

void tunnel_state::expired()
{
    end(anything_waits(),
        is_idle() ? "nothing moved through the tunnel within http.tunnel_idle_timeout"
                  : "nothing moved through the tunnel within http.body_timeout");
}

void tunnel_state::abort()
{
    end(anything_waits(), "the gateway ended before the tunnel did");
}

bool tunnel_state::is_idle() const
{
    return !from_[0].ended && !from_[1].ended && !anything_waits();
}

bool tunnel_state::anything_waits() const
{
    return port_.tunnel_blocked(tunnel_side::client) || port_.tunnel_blocked(tunnel_side::upstream);
}

void tunnel_state::end(bool cut, std::string_view why)
{
    if (is_open_) {
        is_open_ = false;
        port_.tunnel_over(cut, why);
    }
}

void tunnel_state::settle()
{
    if (from_[0].ended && from_[1].ended && !anything_waits()) {
        end(false, {});
    }
}

}  // namespace gateway::proxy
