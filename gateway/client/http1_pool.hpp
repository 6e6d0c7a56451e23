// HTTP/1 connections whose memory nobody needs just now. One per worker.
#pragma once

#include "gateway/client/http1_connection.hpp"
#include "gateway/limits/spares.hpp"

#include <memory>

namespace gateway::client {

class http1_pool {
public:
    std::unique_ptr<http1_connection> borrow(session_environment& env)
    {
        return spares_.borrow([&env] { return std::make_unique<http1_connection>(env); });
    }

    // May be called by itself.
    void give_back(std::unique_ptr<http1_connection> at_rest)
    {
        spares_.give_back(std::move(at_rest));
    }

    // Frees what holds on to an older view than the present one, too. Called from each tick.
    void trim(const limits::policy_view& present)
    {
        spares_.erase_if([&](const http1_connection& c) { return c.holds_other_than(present); });
        spares_.trim();
    }

    // Whatever holds on to any view. They must all be here.
    void clear() { spares_.clear(); }

private:
    // Connections to be borrowed; about 1 KiB each.
    limits::spares<http1_connection> spares_;
};

}  // namespace gateway::client
