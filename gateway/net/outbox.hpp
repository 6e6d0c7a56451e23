// What the connections of a worker send while a turn's events are handled: gathered, and handed to
// the kernel together when the turn ends, or after each event of a small one
// (poller::min_gathered). The code that decides and the kernel's code that sends then run in one
// stretch each, and stay in the processor's caches; see
// docs/decisions/0006-sends-at-the-end-of-a-turn.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::net {

// The connection that owns the bytes; it must outlive them here.
class sender {
public:
    virtual void send_gathered(std::string_view bytes) = 0;

protected:
    ~sender() = default;
};

class outbox {
public:
    // Most sends that are gathered; then they leave before the turn ends.
    static constexpr std::size_t max_sends = 64;
    // Most bytes that are gathered; then likewise.
    static constexpr std::size_t max_bytes = 64 * 1024;
    // Most bytes of one send that is gathered; larger ones are not worth a copy.
    static constexpr std::size_t max_send_bytes = 8'192;

    // Takes `a` then `b`, after what it has from the same sender; false: they must be sent now.
    [[nodiscard]] bool take(sender& from, std::string_view a, std::string_view b);

    // A turn begins; only until it ends is anything taken.
    void open() { open_ = true; }

    // The turn ends: everything leaves.
    void close();

    // Everything leaves now, in order.
    void flush();

private:
    struct piece {
        sender* from;
        std::size_t size;
    };

    bool open_ = false;
    std::string bytes_;
    // The pieces of bytes_, in order.
    std::vector<piece> pieces_;
};

}  // namespace gateway::net
