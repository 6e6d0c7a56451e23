// `rebasing` walks over the rows of a database after a reload has changed rates; see
// store/remote/rate_walk.hpp.
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/remote/rate_walk.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::postgres {

class rebasing final : public rate_walk {
public:
    rebasing(
        const net::executor& executor,
        std::string name,
        const postgres_options& options,
        const std::vector<named_limit>& limits
    );

private:
    postgres_options options_;
    std::vector<named_limit> limits_;
    session database_;

    net::task<std::optional<failure>> attempt() override;
    void stop() override;
    net::task<std::optional<failure>> walk(const named_limit& over);
};

}  // namespace gateway::store::postgres
