// `silence_state` finds out that a server which requests wait for is gone, as a pure machine: when
// it is to be asked by PING, and when it has not answered.
//
// It is asked first after `first`, and again only after `later` unless a part of a message came
// meanwhile: servers of gRPC take many PINGs without data for an attack.
#pragma once

#include "gateway/base/clock.hpp"

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

    // Called when requests begin to wait.
    void begin(base::instant now) { heard_at_ = now; }

    // Called when something came, and when it was a part of a message.
    void heard(base::instant now)
    {
        heard_at_ = now;
        asked_at_.reset();
    }

    void heard_message() { may_ask_from_.reset(); }

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
        asked_at_ = now;
        may_ask_from_ = now + later;
        return step::ask;
    }

    // Returns when next() has something to do at the earliest, if nothing comes.
    base::instant deadline() const { return asked_at_ ? *asked_at_ + longest_answer : ask_at(); }

private:
    base::instant heard_at_{};
    // Moment of the PING that has no answer.
    std::optional<base::instant> asked_at_;
    // Moment from which the next one may be sent, since no part of a message has come.
    std::optional<base::instant> may_ask_from_;

    base::instant ask_at() const
    {
        const base::instant silent = heard_at_ + first;
        return may_ask_from_ && *may_ask_from_ > silent ? *may_ask_from_ : silent;
    }
};

}  // namespace gateway::proxy
