// `server_conduct` judges how the servers of an upstream treat requests: whose fault a failure was,
// what follows from it (ejection, retries), and what is counted and logged.
// Ownership: the pool.
// Thread: the pool's.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool/pool_metrics.hpp"
#include "gateway/proxy/pool/retry_budget.hpp"
#include "gateway/proxy/servers/server_capacity.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::proxy {

class server_conduct {
public:
    static constexpr std::chrono::seconds failures_logged_every{10};

    // Requires: all arguments outlive it.
    server_conduct(
        const base::turn_clock& c,
        const upstream_options& options,
        server_capacity& at,
        const pool_metrics& metrics
    )
        : clock_(c),
          options_(options),
          capacity_(at),
          metrics_(metrics),
          retries_(options.retry_budget),
          complained_(options.servers.size())
    {}

    // Records the head of a final response, which came `took` after the request was sent.
    void responded(std::size_t server, int status, base::duration took);

    // Records that no response came. Returns true if that was the server's fault. `reused`: the
    // connection had served another request before, and may have been idle for too long.
    bool did_not_respond(std::size_t server, failure why, bool reused);

    // Records that the server could not be connected to.
    void was_unreachable(std::size_t server) { blame(server); }

    // Logs what is wrong with a server. Does nothing if `what` is empty.
    void complain(std::size_t server, std::string_view what);

    // Returns the last complaint, which begins with the server's address.
    const std::string& last_complaint() const { return last_complaint_; }

    // Counts a final failure, and logs it if none was logged lately.
    void count_failure(failure why);

    // Returns true if a request may be sent a second time, and counts that. `reused`: the
    // connection that was lost had served before.
    bool take_retry(bool reused);

private:
    const base::turn_clock& clock_;
    const upstream_options& options_;
    server_capacity& capacity_;
    const pool_metrics& metrics_;
    retry_budget retries_;
    // Time at which the log last got a failure.
    std::optional<base::instant> failure_logged_;
    // complained_[i] is when the log last got a complaint about server i.
    std::vector<std::optional<base::instant>> complained_;
    std::string last_complaint_;

    bool is_due(std::optional<base::instant>& last) const;
    void warn(const std::string& what) const;
    void blame(std::size_t server);
};

}  // namespace gateway::proxy
