// Where a link to a store's server stands, and how long it rests between attempts. Pure.
//
//   resting -> connecting -> greeting -> ready -> resting ...      closed is for ever
// Rests double from `shortest_rest` until an answer proves the server good; a link that connects
// and is lost again has proved nothing. No rest is so long that recovery could take a second.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <optional>

namespace gateway::store {

// Connecting and greeting get the store's timeout each, but within bounds: less would not survive a
// lost packet, more would make recovery take over a second.
base::duration stage_limit(base::duration timeout);

class link_state {
public:
    enum class phase { resting, connecting, greeting, ready, closed };

    static constexpr base::duration shortest_rest = std::chrono::milliseconds{50};
    static constexpr base::duration longest_rest = std::chrono::milliseconds{450};

    phase now_in() const { return phase_; }

    bool ready() const { return phase_ == phase::ready; }

    bool closed() const { return phase_ == phase::closed; }

    // On its first way to the server: nothing has gone wrong yet, so questions may wait for it.
    bool awaited() const { return !tried_ && !closed(); }

    // Why no question can be sent now: what went wrong last.
    std::optional<failure> unusable() const;

    void connecting();

    // The connection is up: the greeting begins.
    void connected();

    // The greeting is over: the link is ready.
    void greeted();

    // A good answer came: the next loss is the first.
    void proved() { losses_ = 0; }

    // Something has changed at the server: what failed before says nothing of the next attempt.
    void hinted() { losses_ = 0; }

    void lost(failure why);
    void close();

    // After a loss, with `random` in [0, 1). A server that refuses us, rather than being away,
    // is asked slowly from the start. An attempt that failed after `spent`, as with a server that
    // stands still, has been a rest for as long: else a server that returns near its end would
    // wait for a whole rest, too. A little remains, so that many workers do not come together.
    base::duration rest(double random, base::duration spent) const;

private:
    phase phase_ = phase::resting;
    failure last_ = failure::unreachable;
    // Losses in a row.
    int losses_ = 0;
    // Whether it has ever been ready, or lost.
    bool tried_ = false;
};

}  // namespace gateway::store
