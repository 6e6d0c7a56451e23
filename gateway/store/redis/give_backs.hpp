// Tokens on their way back to a cluster: what was taken for a request that another slot refused.
// Asked for until the store does it, for a minute at most; what it has not done then is counted.
//
// On the worker's thread.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/store/owned_charge.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <cstddef>
#include <list>

namespace gateway::store::redis {

class give_backs {
public:
    static constexpr std::size_t max_pending = 10'000;

    // `to` and `metrics` must outlive it.
    give_backs(const net::executor& executor, shared_store& to, telemetry::store_metrics& metrics);

    ~give_backs();
    give_backs(const give_backs&) = delete;
    give_backs& operator=(const give_backs&) = delete;

    // What `said` allowed of this charge at that moment. Lost at once if too many wait.
    void add(const charge& c, const limit::decision& said, base::instant taken_at);

    // Gives up what waits.
    void close();

    bool idle() const { return all_.empty(); }

private:
    class pending;

    shared_store& to_;
    telemetry::store_metrics& metrics_;
    std::list<pending> all_;
    bool closed_ = false;
    // They are asked for again at the end of a rest that has begun.
    bool rests_ = false;
    net::alarm rest_over_;

    void retry_later();
    void retry();
};

}  // namespace gateway::store::redis
