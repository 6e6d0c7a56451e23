// What follows a granted WebSocket, as a sans-I/O machine: bytes both ways, unread and unchanged,
// until both sides have ended, one breaks, or nothing moves for too long. It knows no frames, no
// socket and no clock.
//
//   open -> half_open -> over    a side's end is passed on behind its last byte, the other goes on
//       \------------\-> over    a reset or a standstill ends both
//
// It keeps nothing: what a side does not take waits in its connection, and meanwhile the other side
// is not read. So no more than one read of bytes waits each way, and to the upstream, at first,
// what the client sent before the switch: its inbox goes out at once.
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

// What a tunnel asks of its owner. Calls never come back into the machine from inside.
class tunnel_port {
public:
    virtual void tunnel_send(tunnel_side to, std::string_view bytes) = 0;

    // Nothing more goes to that side.
    virtual void tunnel_finish(tunnel_side to) = 0;
    // Whether something that was sent to that side still waits.
    virtual bool tunnel_blocked(tunnel_side to) const = 0;

    // Both connections go. `cut`: not in order, and the client is to see it. `why`: empty if in
    // order.
    virtual void tunnel_over(bool cut, std::string_view why) = 0;

protected:
    ~tunnel_port() = default;
};

class tunnel_state {
public:
    explicit tunnel_state(tunnel_port& port) : port_(port) {}

    void start();

    // Events.
    void bytes(tunnel_side from, std::string_view bytes);
    // No more comes from there; not orderly: it was reset. That cuts the other side, unless the end
    // had come before: then all of it has arrived.
    void ended(tunnel_side from, bool orderly);
    // A side is not blocked any more.
    void drained();
    // Nothing moved for too long.
    void expired();
    // The process ends.
    void abort();

    bool wants_bytes(tunnel_side from) const { return is_open_ && !side(from).ended; }

    // Open both ways and nothing on its way: only then may it rest for long.
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
