// The calls of the admin API: which there are, who may make them, and how they must be made
// (docs/admin-api.md). On the main thread.
#pragma once

#include "gateway/admin/admin_buckets.hpp"
#include "gateway/client/options.hpp"

namespace gateway::admin {

class admin_api {
public:
    admin_api(const net::executor& loop, client::admin_options options, admin_sources from)
        : loop_(loop), options_(std::move(options)), from_(std::move(from))
    {}

    // `asked` and `peer`, the text of an address, must live until the task has ended.
    net::task<probes::control_response> answer(const admin_request& asked, const std::string& peer)
        const;

private:
    net::executor loop_;
    client::admin_options options_;
    admin_sources from_;

    net::task<probes::control_response> dispatch(
        const admin_request& asked, const std::string& peer
    ) const;
};

}  // namespace gateway::admin
