// A walk over the rows of a database after a reload has changed rates; see rate_walk and
// redis/rebasing.hpp.
//
// On a connection of its own, away from the workers' links, on the thread of its executor. Held by
// shared_ptr, as its coroutine may end after cancel().
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/rate_walk.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::postgres {

class rebasing final : public rate_walk {
public:
    static std::shared_ptr<rebasing> start(
        const net::executor& executor,
        std::string name,
        const postgres_options& options,
        const std::vector<named_limit>& limits
    );

    rebasing(
        const net::executor& executor,
        std::string name,
        const postgres_options& options,
        const std::vector<named_limit>& limits
    );
    rebasing(const rebasing&) = delete;
    rebasing& operator=(const rebasing&) = delete;

    void cancel() override;

    bool ended() const override { return ended_; }

private:
    std::string name_;
    postgres_options options_;
    std::vector<named_limit> limits_;
    session database_;
    // The end of a rest.
    net::timer timer_;
    bool cancelled_ = false;
    bool ended_ = false;

    net::task<> run(std::shared_ptr<rebasing> self);
    net::task<std::optional<trouble>> attempt();
    net::task<std::optional<trouble>> walk(const named_limit& over);
    void report(const std::optional<trouble>& why) const;
};

}  // namespace gateway::store::postgres
