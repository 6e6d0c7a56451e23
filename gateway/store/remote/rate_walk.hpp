// A walk over the buckets of a shared store after a reload has changed rates: what clients owe is
// paid back at the new ones from then on, also by those who stay away. It begins when questions in
// the old terms have been answered, and tries again while the store fails.
//
// On a connection of its own, away from the workers' links, on the thread of its executor. Held by
// shared_ptr, as its coroutine may end after cancel().
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

// One of the limits that live in the store.
struct named_limit {
    std::string name;
    limit::limit limit;
};

class rate_walk {
public:
    rate_walk(const rate_walk&) = delete;
    rate_walk& operator=(const rate_walk&) = delete;
    virtual ~rate_walk() = default;

    // `timeout`: how long questions in the old terms may take.
    static void start(const std::shared_ptr<rate_walk>& walk, base::duration timeout);

    // For ever.
    void cancel();

    // Every bucket has been looked at.
    bool ended() const { return ended_; }

protected:
    // `name` is what logs call the store.
    rate_walk(const net::executor& executor, std::string name);

    bool cancelled() const { return cancelled_; }

private:
    std::string name_;
    // The end of a rest.
    net::timer timer_;
    bool cancelled_ = false;
    bool ended_ = false;

    // Looks at all buckets, from the first one on. Nothing: it has; else why it could not.
    virtual net::task<std::optional<failure>> attempt() = 0;

    // Ends an attempt, and allows no other.
    virtual void stop() = 0;

    net::task<> run(std::shared_ptr<rate_walk> self, base::duration timeout);
    void report(std::optional<failure> why) const;
};

// One that has been started. `limits` are all those that live in the store, so that a later walk
// does what is left of an earlier one, too.
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
