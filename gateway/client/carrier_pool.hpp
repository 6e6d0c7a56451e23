// `carrier_pool` lends the carriers of requests, and keeps those that nobody needs just now: HTTP/1
// connections to sessions, streams to HTTP/2 connections. There is one of each per worker.
#pragma once

#include "gateway/client/http1/http1_connection.hpp"
#include "gateway/client/http2/http2_stream.hpp"
#include "gateway/limits/spares.hpp"

#include <memory>

namespace gateway::client {

template <typename Carrier>
class carrier_pool {
public:
    std::unique_ptr<Carrier> borrow(session_environment& env)
    {
        return spares_.borrow([&env] { return std::make_unique<Carrier>(env); });
    }

    // Takes a carrier back. It destroys nothing, so a carrier may be given back while a function of
    // its own is running.
    void take_back(std::unique_ptr<Carrier> at_rest) { spares_.take_back(std::move(at_rest)); }

    // Destroys those that hold another view than the present one, and those that are too many.
    // Called on each tick.
    void trim(const limits::policy_view& present)
    {
        spares_.erase_if([&](const Carrier& c) { return c.holds_other_than(present); });
        spares_.trim();
    }

    // Destroys all, whichever view they hold.
    // Requires: none is lent.
    void clear() { spares_.clear(); }

private:
    // Carriers to lend, of about 1 KiB each.
    limits::spares<Carrier> spares_;
};

class http1_pool : public carrier_pool<http1_connection> {};

class http2_pool : public carrier_pool<http2_stream> {};

}  // namespace gateway::client
