// `pending_lease` is a lease that is on its way, `lease_wish` what it asks for, and `lease_source`
// what works on it.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/proxy/failure.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace gateway::proxy {

class upstream_carrier;

struct lease_wish {
    // True if it must be a new connection, or a shared one with nothing to receive, and not an idle
    // one.
    bool fresh = false;
    // True if an idle connection is checked for being open, at the price of a system call. This is
    // for requests that could not be sent again.
    bool surely_open = false;

    // The client's key, if the same client is to get the same server.
    std::uint64_t key = 0;
    // Bit i is set if server i has failed this request already.
    std::uint64_t passed_over = 0;
    // Bit i is set if server i is used only if there is no other. The request was lost with a
    // connection to it, though by no fault of the server.
    std::uint64_t last_resort = 0;

    // Number of servers that let connect_timeout pass.
    int timeouts = 0;

    failure last_failure = failure::no_address;

    // The ends in the connection's PROXY header. Nothing: it has none, and may serve any client.
    std::optional<base::connection_ends> ends{};
};

// `lease_source` works on a lease: it has the lease wait, or makes a connection for it.
class lease_source {
public:
    virtual void lease_abandoned() = 0;

protected:
    ~lease_source() = default;
};

// `pending_lease` is the base class of the lease's holder. Destroying or abandoning it is harmless.
class pending_lease {
public:
    virtual void leased(upstream_carrier& c) = 0;
    virtual void lease_failed(failure why) = 0;

    void abandon()
    {
        if (source_ != nullptr) {
            std::exchange(source_, nullptr)->lease_abandoned();
        }
    }

    // Sets what works on the lease; null once it is settled.
    void comes_from(lease_source* s) { source_ = s; }

protected:
    virtual ~pending_lease() { abandon(); }

private:
    lease_source* source_ = nullptr;
};

}  // namespace gateway::proxy
