// The calls of the admin API: which there are, who may make them, and how they must be made
// (docs/admin-api.md). On the main thread.
#pragma once

#include "gateway/server/admin_buckets.hpp"

namespace gateway::server {

class admin_api {
public:
    // `longest`: how long an answer may take.
    admin_api(const net::executor& loop, base::duration longest, admin_sources from)
        : loop_(loop), longest_(longest), from_(std::move(from))
    {}

    // `asked` and `peer`, the text of an address, must live until the task has ended.
    net::task<control_response> answer(const admin_request& asked, const std::string& peer) const;

private:
    net::executor loop_;
    base::duration longest_;
    admin_sources from_;

    net::task<control_response> dispatch(const admin_request& asked, const std::string& peer) const;
};

}  // namespace gateway::server
