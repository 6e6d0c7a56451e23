// `silence_state` finds out that a server which requests wait for is gone, as a pure machine: when
// it is to be asked by PING, and when it has not answered.
//
// It is asked after `first`, and again only after `later` unless a part of a message came
// meanwhile, or a request began: then twice more at most. Servers of gRPC take the fourth PING
// within five minutes for an attack if they have sent no message between them.
#pragma once

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <optional>

namespace gateway::proxy {

class silence_state {
public:
    // Silence after which the server is asked: at first, and once it has answered and is silent
    // still.
    static constexpr base::duration first = std::chrono::seconds{10};
    static constexpr base::duration later = std::chrono::minutes{6};
    // Longest wait for its answer.
    static constexpr base::duration longest_answer = std::chrono::seconds{5};

    // PINGs within `later` that are sent for requests which began after the last one.
    static constexpr int most_asked = 3;

    // Called when a request begins. `alone`: none waited before.
    void begin(base::instant now, bool alone)
    {
        heard_at_ = alone ? now : heard_at_;
        has_new_request_ = true;
    }

    // Called when something came, and when it was a part of a message.
    void heard(base::instant now)
    {
        heard_at_ = now;
        asked_at_.reset();
    }

    void heard_message() { asked_ = 0; }

    enum class step { wait, ask, lost };

    // Returns what is to be done, which is taken as done.
    step next(base::instant now)
    {
        if (asked_at_) {
            return now - *asked_at_ >= longest_answer ? step::lost : step::wait;
        }
        if (now < ask_at()) {
            return step::wait;
        }
        asked_ = now >= last_asked_ + later ? 1 : asked_ + 1;
        asked_at_ = last_asked_ = now;
        has_new_request_ = false;
        return step::ask;
    }

    // Returns when next() has something to do at the earliest, if nothing comes.
    base::instant deadline() const { return asked_at_ ? *asked_at_ + longest_answer : ask_at(); }

private:
    base::instant heard_at_{};
    // Moment of the PING that has no answer.
    std::optional<base::instant> asked_at_;
    // Moment of the last PING, and the number of those since a part of a message came.
    base::instant last_asked_{};
    int asked_ = 0;
    bool has_new_request_ = false;

    base::instant ask_at() const
    {
        const base::instant silent = heard_at_ + first;
        const bool may_ask = asked_ == 0 || (has_new_request_ && asked_ < most_asked);
        return may_ask ? silent : std::max(silent, last_asked_ + later);
    }
};

}  // namespace gateway::proxy
