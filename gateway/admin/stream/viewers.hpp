// `viewers` writes the stream of server-sent events, one a second, to those who view the page or
// run `gateway top`. A viewer costs a number and one piece of text: what it has missed is in the
// watch.
// Thread: the main thread.
#pragma once

#include "gateway/admin/stream/watch.hpp"
#include "gateway/probes/control_http.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gateway::admin {

// `viewing` is what a viewer has asked for.
struct viewing {
    audience for_whom = audience::anybody;
    // Its Last-Event-ID; empty: it has seen nothing.
    std::string seen{};
};

class viewers {
public:
    // Most viewers at a time.
    static constexpr std::size_t most = 32;
    // Size of a piece of text, and of a viewer's buffer in the system.
    static constexpr std::size_t piece_bytes = std::size_t{64} * 1024;

    // Ownership: shares the watch.
    // Lets in at most `most_connections` / 2 viewers, if that is less than `most`. `patience` is
    // how long a viewer may take nothing of what it is sent.
    viewers(std::shared_ptr<watch> of, std::size_t most_connections, base::duration patience);

    bool has_room() const { return count() < room_; }

    std::size_t count() const { return watch_->viewers(); }

    // Sends the head, the last ten minutes, or what has come after those seen, and then every
    // second, until the viewer has gone, takes nothing, or end() was called. It counts as a viewer
    // from the call on.
    // Requires: has_room().
    // Ownership: `s` and this object outlive the task.
    net::task<> show(probes::control_stream& s, probes::control_response head, viewing what);

    // Lets all viewers go, as another process is to serve them.
    void end();

private:
    // `progress` notices a viewer whose system takes nothing of what it is sent.
    class progress;

    std::shared_ptr<watch> watch_;
    std::size_t room_;
    base::duration patience_;
    bool ended_ = false;

    net::task<> send_events(probes::control_stream& s, viewing what, std::uint64_t seen);
};

}  // namespace gateway::admin
