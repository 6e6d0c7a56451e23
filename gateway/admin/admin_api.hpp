// `admin_api` holds the calls of the admin API, who may make them and in which form
// (docs/admin-api.md).
// Thread: the main thread.
#pragma once

#include "gateway/admin/admin_calls.hpp"
#include "gateway/admin/stream/viewers.hpp"
#include "gateway/client/options.hpp"

#include <optional>

namespace gateway::admin {

// `admin_answer` is a response, and the stream that follows it if it is the head of one.
struct admin_answer {
    probes::control_response response{};
    std::optional<viewing> stream{};
};

class admin_api {
public:
    admin_api(const net::executor& loop, client::admin_options options, admin_sources from)
        : loop_(loop), options_(std::move(options)), from_(std::move(from))
    {}

    // Answers one request. `peer` is the caller for the log: an address, or "a local process".
    // Ownership: `asked` and `peer` outlive the task.
    net::task<admin_answer> answer(const admin_request& asked, const std::string& peer) const;

private:
    net::executor loop_;
    client::admin_options options_;
    admin_sources from_;

    net::task<probes::control_response> dispatch(
        const admin_request& asked, const std::string& peer
    ) const;
};

}  // namespace gateway::admin
