// `abandoned_exchanges` keeps the exchanges of a worker whose clients have left, each with its
// connection and its places, until the server is done with the request. One thread.
#pragma once

#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/reservation.hpp"
#include "gateway/limits/scratch.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/proxy/abandoned_state.hpp"
#include "gateway/proxy/pool.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <list>
#include <memory>

namespace gateway::limits {

class corrections;
class place_leases;

}  // namespace gateway::limits

namespace gateway::client {

// An exchange as its request leaves it behind.
struct abandoned_request {
    // It keeps the policy, the pool and the stores.
    std::shared_ptr<const limits::policy_view> view;
    const policy::route& route;
    proxy::upstream_connection& connection;
    bool holds_place = false;
    // Its places, and the charges that its response may still correct.
    limits::reservation reserved;
    proxy::abandon_until until;
    // The longest time that it may still take.
    base::duration time;
    // When a part of the request was last sent.
    base::instant sent_at;
};

class abandoned_exchanges {
    class exchange;

public:
    // Upper bound of exchanges, which hold a descriptor each. One more is closed at once, and frees
    // its places.
    static constexpr std::size_t most = 1024;
    // Those that hold no place leave room for those that do.
    static constexpr std::size_t most_without_place = most / 2;

    // All arguments outlive it.
    abandoned_exchanges(
        net::loop& l,
        limits::corrections& make,
        limits::place_leases& leases,
        limits::scratch& memory,
        telemetry::gauge& count
    );
    ~abandoned_exchanges();

    bool has_room(bool holds_place) const;

    // Requires: has_room().
    void keep(abandoned_request of, proxy::answer_state&& answer);

    // True if a drain has to wait for an exchange.
    bool any_to_finish() const;

    // Closes all, and gives their places back.
    void close();

private:
    net::loop& loop_;
    limits::corrections& corrections_;
    limits::place_leases& place_leases_;
    limits::scratch& scratch_;
    telemetry::gauge& count_;
    std::list<exchange> all_;
    std::size_t without_place_ = 0;

    void remove(exchange& e);
};

}  // namespace gateway::client
