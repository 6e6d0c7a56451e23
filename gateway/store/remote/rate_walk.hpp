// `rate_walk` is a walk over the buckets of a shared store after a reload has changed rates. The
// debts of clients are then paid back at the new rates, also by clients that stay away. The walk
// begins when questions under the old rates have been answered, and tries again while the store
// fails. It has a connection of its own, apart from the workers' links. Thread: its executor's.
// Ownership: held by shared_ptr, as its coroutine may end after cancel().
#pragma once

#include "gateway/limit/limit.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/failure.hpp"

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store {

// `named_limit` is one of the limits that live in the store.
struct named_limit {
    std::string name;
    limit::limit limit;
};

class rate_walk {
public:
    rate_walk(const rate_walk&) = delete;
    rate_walk& operator=(const rate_walk&) = delete;
    virtual ~rate_walk() = default;

    // `timeout` is the longest time that questions under the old rates may take.
    static void start(const std::shared_ptr<rate_walk>& walk, base::duration timeout);

    // Ends the walk for ever.
    void cancel();

    // True if the walk has looked at every bucket.
    bool ended() const { return ended_; }

protected:
    // `name` is the store's name in logs.
    rate_walk(const net::executor& executor, std::string name);

    bool cancelled() const { return cancelled_; }

private:
    std::string name_;
    // Timer for the end of a rest.
    net::timer timer_;
    bool cancelled_ = false;
    bool ended_ = false;

    // Looks at all buckets, from the first one on. Returns nothing on success, or why it failed.
    virtual net::task<std::optional<failure>> attempt() = 0;

    // Ends an attempt, and allows no other.
    virtual void stop() = 0;

    net::task<> run(std::shared_ptr<rate_walk> self, base::duration timeout);
    void report(std::optional<failure> why) const;
};

// Starts a walk of that kind. `limits` are all limits in the store, so that a later walk finishes
// what an earlier one left.
template <std::derived_from<rate_walk> Walk, typename Options>
std::shared_ptr<Walk> start_walk(
    const net::executor& executor,
    std::string name,
    const Options& options,
    const std::vector<named_limit>& limits
)
{
    auto walk = std::make_shared<Walk>(executor, std::move(name), options, limits);
    rate_walk::start(walk, options.timeout);
    return walk;
}

}  // namespace gateway::store
