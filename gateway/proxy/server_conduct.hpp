// How the servers of an upstream treat requests: whose fault a failure was, what follows from it
// (ejection, retries), and what metrics and log are told. Owned by the pool; one thread.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool_metrics.hpp"
#include "gateway/proxy/retry_budget.hpp"
#include "gateway/proxy/servers/places.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::proxy {

class server_conduct {
public:
    static constexpr std::chrono::seconds failures_told_every{10};

    // All of them outlive it.
    server_conduct(
        const base::turn_clock& c,
        const upstream_options& options,
        places& at,
        const pool_metrics& metrics
    )
        : clock_(c),
          options_(options),
          places_(at),
          metrics_(metrics),
          retries_(options.retry_budget),
          complained_(options.servers.size())
    {}

    // A final response's head came, so long after the request was sent.
    void responded(std::size_t server, int status, base::duration took);

    // No response came. `reused`: the connection had served another request before, and may have
    // been idle for too long. True: that was the server's fault.
    bool did_not_respond(std::size_t server, failure why, bool reused);

    // It could not be connected to.
    void was_unreachable(std::size_t server) { blame(server); }

    // Logs what is wrong with a server; empty: nothing is.
    void complain(std::size_t server, std::string_view what);

    // The last complaint, with the server's name.
    const std::string& last_complaint() const { return last_complaint_; }

    // A request failed for good.
    void count_failure(failure why);

    // Before a request is sent a second time: whether that is permitted. `reused`: the connection
    // that was lost had served before.
    bool take_retry(bool reused);

private:
    const base::turn_clock& clock_;
    const upstream_options& options_;
    places& places_;
    const pool_metrics& metrics_;
    retry_budget retries_;
    // The moment at which the log last had a failure.
    std::optional<base::instant> told_;
    // [i]: when it last had what is wrong with server i.
    std::vector<std::optional<base::instant>> complained_;
    std::string last_complaint_;

    bool is_due(std::optional<base::instant>& last) const;
    void tell(const std::string& what) const;
    void blame(std::size_t server);
};

}  // namespace gateway::proxy
