// `tunnel_state` is the tunnel of a granted WebSocket, as a sans-I/O machine: it passes bytes both
// ways, unread and unchanged, until both sides have ended, one breaks, or nothing moves for too
// long. It knows no frames, no socket and no clock.
//
//   open -> half_open -> over    a side's end is passed on behind its last byte, the other goes on
//       \------------\-> over    a reset or a standstill ends both
//
// It keeps no bytes. Bytes that a side does not take wait in its connection, and meanwhile the
// other side is not read. No more than one read of bytes therefore waits each way. At first, all
// that the client sent before the switch may wait for the upstream, too: its inbox is sent as a
// whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::proxy {

enum class tunnel_side : std::uint8_t { client, upstream };

constexpr tunnel_side other(tunnel_side s)
{
    return s == tunnel_side::client ? tunnel_side::upstream : tunnel_side::client;
}

// `tunnel_port` does what a tunnel asks of its owner. Calls never come back into the machine.
class tunnel_port {
public:
    virtual void tunnel_send(tunnel_side to, std::string_view bytes) = 0;

    // Ends sending to that side.
    virtual void tunnel_finish(tunnel_side to) = 0;
    // True if something that was sent to that side still waits.
    virtual bool tunnel_blocked(tunnel_side to) const = 0;

    // Ends both connections. `cut`: not in order, and the client is to see it. `why`: the reason,
    // or empty if in order.
    virtual void tunnel_over(bool cut, std::string_view why) = 0;

protected:
    ~tunnel_port() = default;
};

class tunnel_state {
public:
    explicit tunnel_state(tunnel_port& port) : port_(port) {}

    void start();

    // Passes bytes on to the other side.
    void bytes(tunnel_side from, std::string_view bytes);
    // Takes the end of one side's bytes. A reset (not `orderly`) cuts the other side, too, unless
    // the end had come before: then all of it has arrived.
    void ended(tunnel_side from, bool orderly);
    // Called when a side is not blocked any more.
    void drained();
    // Called when nothing has moved for too long.
    void expired();
    // Called when the process ends.
    void abort();

    bool wants_bytes(tunnel_side from) const { return is_open_ && !side(from).ended; }

    // True if it is open both ways and nothing is on its way. Only then may it rest for long.
    bool is_idle() const;

    std::uint64_t bytes_from(tunnel_side s) const { return side(s).bytes; }

private:
    struct direction {
        std::uint64_t bytes = 0;
        bool ended = false;
    };

    tunnel_port& port_;
    bool is_open_ = false;
    std::array<direction, 2> from_;

    direction& side(tunnel_side s) { return from_[static_cast<std::size_t>(s)]; }

    const direction& side(tunnel_side s) const { return from_[static_cast<std::size_t>(s)]; }

    bool anything_waits() const;
    void end(bool cut, std::string_view why);
    void settle();
};

}  // namespace gateway::proxy
