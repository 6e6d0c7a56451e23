// `conversation_wakes` wakes a conversation at its next deadline, and at the end of a turn of the
// loop. It is a part of each link.
// Thread: the link's.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/store/remote/conversation_state.hpp"

#include <functional>
#include <memory>

namespace gateway::store {

class conversation_wakes {
public:
    // `receive` takes what has arrived by now. It is only called while the link is ready.
    conversation_wakes(
        const net::executor& executor, conversation_state& wakes, std::function<void()> receive
    );

    // Both wake the conversation once. They hold `keeper`, which keeps the conversation and this
    // object alive, until then.
    void at(base::instant deadline, std::shared_ptr<const void> keeper);
    void after_turn(std::shared_ptr<const void> keeper);

    // Cancels the deadline.
    void cancel() { timer_.cancel(); }

private:
    net::executor executor_;
    conversation_state& conversation_;
    std::function<void()> receive_;
    net::timer timer_;
    bool turn_end_posted_ = false;
};

}  // namespace gateway::store
