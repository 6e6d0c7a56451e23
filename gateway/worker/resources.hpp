// `resources` owns one worker's upstream pools and store links. They are kept across reloads where
// their options stayed the same, and retired in peace where they did not.
// Thread: the worker's.
#pragma once

#include "gateway/limits/policy_view.hpp"
#include "gateway/telemetry/registry.hpp"
#include "gateway/worker/snapshot.hpp"

#include <memory>
#include <vector>

namespace gateway::worker {

class resources {
public:
    resources(net::loop& l, telemetry::registry& metrics, std::size_t worker);

    // Makes what `s` needs and did not exist, and retires what it does not need any more. Returns
    // the view of `s`.
    std::shared_ptr<const limits::policy_view> adopt(const snapshot& s);

    // Drops retired pools that nobody uses, and retired stores that owe nothing more or have had
    // their minute. Called from each tick.
    void sweep();

    // Gives back what shared stores are owed. Returns false if not all of it is given back yet.
    bool settle_up();

    // Closes everything, at the worker's end.
    void close();

private:
    // Time that a retired store has to give back what it owes.
    static constexpr base::duration settles_for = std::chrono::minutes{1};

    struct kept_store {
        store::named_store what;
        std::shared_ptr<store::shared_store> store;
    };

    struct retired_store {
        std::shared_ptr<store::shared_store> store;
        base::instant until;
    };

    net::loop& loop_;
    telemetry::registry& metrics_;
    std::size_t worker_;
    std::vector<std::shared_ptr<proxy::pool>> pools_;
    std::vector<std::shared_ptr<proxy::pool>> retired_pools_;
    std::vector<kept_store> stores_;
    std::vector<retired_store> retired_stores_;

    std::shared_ptr<proxy::pool> pool_for(
        const proxy::upstream_options& options,
        const std::shared_ptr<proxy::upstream_status>& status,
        unsigned short echo_port
    );
    std::shared_ptr<store::shared_store> store_for(const store::named_store& what);
    void retire_unused(const limits::policy_view& view);
};

}  // namespace gateway::worker
