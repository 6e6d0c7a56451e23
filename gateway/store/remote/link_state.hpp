// `link_state` is the state of a link to a store's server, and decides how long it rests between
// attempts. Pure.
//
//   resting -> connecting -> greeting -> ready -> resting ...      closed is for ever
// Rests double from `shortest_rest` until an answer proves that the server works. A link that
// connects and is lost again has proved nothing. No rest is so long that recovery could take a
// second.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <optional>

namespace gateway::store {

// Returns the time limit of connecting, and that of greeting: the store's timeout, within bounds.
// Less would not survive a lost packet, and more would let recovery take over a second.
base::duration stage_limit(base::duration timeout);

class link_state {
public:
    enum class phase { resting, connecting, greeting, ready, closed };

    static constexpr base::duration shortest_rest = std::chrono::milliseconds{50};
    static constexpr base::duration longest_rest = std::chrono::milliseconds{450};

    phase now_in() const { return phase_; }

    bool ready() const { return phase_ == phase::ready; }

    bool closed() const { return phase_ == phase::closed; }

    // True on its first way to the server. Nothing has gone wrong yet, so questions may wait for
    // it.
    bool awaited() const { return !tried_ && !closed(); }

    // Returns the reason why no question can be sent now: the last failure. Nothing: the link is
    // ready.
    std::optional<failure> unusable() const;

    void connecting();

    // Begins the greeting, as the connection is up.
    void connected();

    // Ends the greeting, after which the link is ready.
    void greeted();

    // Notes a good answer. The next loss counts as the first.
    void proved() { losses_ = 0; }

    // Notes that something has changed at the server. Earlier failures say nothing of the next
    // attempt.
    void hinted() { losses_ = 0; }

    void lost(failure why);
    void close();

    // Returns the time to rest after a loss, with `random` in [0, 1). If a server refuses the
    // gateway, rather than being away, the rests are long from the start. An attempt that failed
    // after `spent`, as with a server that hangs, counts as a rest of that length, so that a server
    // that returns near its end is not kept waiting for a whole rest, too. A little of the rest
    // remains, so that many workers do not come together.
    base::duration rest(double random, base::duration spent) const;

private:
    phase phase_ = phase::resting;
    failure last_ = failure::unreachable;
    // Number of losses in a row.
    int losses_ = 0;
    // True if it has ever been ready, or lost.
    bool tried_ = false;
};

}  // namespace gateway::store
