// What the connections of a worker send while a turn's events are handled: gathered, and handed to
// the kernel together when the turn ends. The code that decides and the kernel's code that sends
// then run in one stretch each, and stay in the processor's caches; see
// docs/decisions/0006-sends-at-the-end-of-a-turn.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::net {

// Whose bytes they are. Must stay alive while it has some here.
class sender {
public:
    virtual void send_gathered(std::string_view bytes) = 0;

protected:
    ~sender() = default;
};

class outbox {
public:
    static constexpr std::size_t max_sends = 64;          // then they leave before the turn ends
    static constexpr std::size_t max_bytes = 64 * 1024;   // likewise
    static constexpr std::size_t max_send_bytes = 8'192;  // larger ones are not worth a copy

    // Takes `a` then `b`, after what it has from the same sender; false: they must be sent now.
    [[nodiscard]] bool take(sender& from, std::string_view a, std::string_view b);

    void open() { open_ = true; }  // a turn begins; only until it ends anything is taken

    void close();  // it ends: all leave

    void flush();  // all leave, in order

private:
    struct piece {
        sender* from;
        std::size_t size;
    };

    bool open_ = false;
    std::string bytes_;
    std::vector<piece> pieces_;  // of bytes_, in order
};

}  // namespace gateway::net
