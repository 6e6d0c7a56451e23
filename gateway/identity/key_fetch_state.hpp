// `key_fetch_state` decides when the keys of an issuer are fetched: at the start, when the last
// answer has grown old, again after a failure, and when a token names a key that is not known.
#pragma once

#include "gateway/base/clock.hpp"

#include <optional>
#include <string_view>

namespace gateway::identity {

class key_fetch_state {
public:
    // Bounds of the time after which an answer has grown old, whatever it says itself.
    static constexpr base::duration shortest_life = std::chrono::minutes{1};
    static constexpr base::duration longest_life = std::chrono::hours{24};
    // Pauses after failures. Each is twice as long as the one before.
    static constexpr base::duration first_pause = std::chrono::seconds{1};
    static constexpr base::duration longest_pause = std::chrono::seconds{10};
    // Least time between two fetches for tokens that name unknown keys.
    static constexpr base::duration unknown_interval = std::chrono::seconds{30};

    // Has the first fetch due at `now`. An answer that says nothing of its age grows old after
    // `refresh`.
    key_fetch_state(base::duration refresh, base::instant now);

    // Returns the moment of the next fetch, or nothing while one is under way.
    std::optional<base::instant> next() const;

    bool is_under_way() const { return under_way_; }

    // True if the last fetch that has ended failed.
    bool is_failing() const { return failing_; }

    // True if requests with unknown keys may wait for the fetch that is under way. They do not wait
    // for one that repeats a failed one, unless it was begun for them.
    bool is_worth_waiting() const { return under_way_ && (!failing_ || for_unknown_); }

    // Returns the moment from which a token with an unknown key may cause a fetch.
    base::instant unknown_from() const { return unknown_from_; }

    // Requires: no fetch is under way.
    void begin();

    // `life` is the time that the answer says it is good for.
    // Requires: a fetch is under way.
    void succeeded(base::instant now, std::optional<base::duration> life);
    void failed(base::instant now);

    // Notes that a token names an unknown key. If it may cause a fetch, that is due now, or is the
    // one that is under way.
    void note_unknown(base::instant now);

private:
    base::duration refresh_;
    base::instant next_;
    base::instant unknown_from_;
    base::duration pause_{0};
    bool under_way_ = false;
    bool failing_ = false;
    // True if requests wait for the fetch that is under way, or due.
    bool for_unknown_ = false;
};

// Returns the time that a response is good for by its Cache-Control (`max-age`, RFC 9111 §5.2), or
// nothing if that says nothing.
std::optional<base::duration> life_by(std::string_view cache_control);

}  // namespace gateway::identity
