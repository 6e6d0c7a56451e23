// A lease that is on its way: what is wished for, who waits for it, and what works on it.
#pragma once

#include "gateway/proxy/failure.hpp"

#include <cstdint>
#include <utility>

namespace gateway::proxy {

class upstream_connection;

struct lease_wish {
    bool fresh = false;        // a new connection, no idle one
    bool surely_open = false;  // an idle one is looked at first, at the price of a system call:
                               // for requests that could not be sent again
    std::uint64_t key = 0;     // of the client, where the same client is to get the same server
    std::uint64_t passed_over = 0;  // bit i: server i has failed this request already
    // Bit i: server i only if there is no other. The request was lost with a connection to it,
    // though by no fault of its own.
    std::uint64_t last_resort = 0;
    int timeouts = 0;  // of them
    failure last_failure = failure::no_address;
};

// What works on a lease: it is made to wait, or a connection is being made.
class lease_source {
public:
    virtual void lease_abandoned() = 0;

protected:
    ~lease_source() = default;
};

// The holder of the lease derives from it; destroying or abandoning it is harmless.
class pending_lease {
public:
    virtual void leased(upstream_connection& c) = 0;
    virtual void lease_failed(failure why) = 0;

    void abandon()
    {
        if (source_ != nullptr) {
            std::exchange(source_, nullptr)->lease_abandoned();
        }
    }

    void comes_from(lease_source* s) { source_ = s; }  // null: it is settled

protected:
    virtual ~pending_lease() { abandon(); }

private:
    lease_source* source_ = nullptr;
};

}  // namespace gateway::proxy
