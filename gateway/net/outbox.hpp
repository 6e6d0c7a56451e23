// `outbox` gathers the sends of a worker's connections while a turn's events are handled. It hands
// them to the kernel together when the turn ends, or after each event of a small turn
// (poller::min_gathered). The code that decides and the kernel's code that sends then run in one
// stretch each, and stay in the processor's caches; see
// docs/decisions/0006-sends-at-the-end-of-a-turn.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::net {

// `sender` is the connection that the gathered bytes belong to.
// Requires: it outlives its bytes in the outbox.
class sender {
public:
    virtual void send_gathered(std::string_view bytes) = 0;

protected:
    ~sender() = default;
};

class outbox {
public:
    // Most sends gathered; with one more, they leave before the turn ends.
    static constexpr std::size_t max_sends = 64;
    // Most bytes gathered; with more, they leave before the turn ends.
    static constexpr std::size_t max_bytes = 64 * 1024;
    // Most bytes of one gathered send; larger ones are not worth a copy.
    static constexpr std::size_t max_send_bytes = 8'192;

    // Takes `a`, then `b`, behind earlier bytes of the same sender; false if they must be sent now.
    [[nodiscard]] bool take(sender& from, std::string_view a, std::string_view b);

    // Begins a turn; bytes are taken only until it ends.
    void open() { open_ = true; }

    // Ends the turn: everything leaves.
    void close();

    // Sends everything now, in order.
    void flush();

private:
    struct piece {
        sender* from;
        std::size_t size;
    };

    bool open_ = false;
    std::string bytes_;
    // Pieces of bytes_, in order.
    std::vector<piece> pieces_;
};

}  // namespace gateway::net
