// A lease that is on its way: what is wished for, who waits for it, and what works on it.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/proxy/failure.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace gateway::proxy {

class upstream_connection;

struct lease_wish {
    // Whether it must be a new connection, not an idle one.
    bool fresh = false;
    // Whether an idle connection is looked at first, at the price of a system call: for requests
    // that could not be sent again.
    bool surely_open = false;

    // The client's key, where the same client is to get the same server.
    std::uint64_t key = 0;
    // Bit i: server i has failed this request already.
    std::uint64_t passed_over = 0;
    // Bit i: server i only if there is no other. The request was lost with a connection to it,
    // though by no fault of its own.
    std::uint64_t last_resort = 0;

    // How many servers let connect_timeout pass.
    int timeouts = 0;

    failure last_failure = failure::no_address;

    // What the connection's PROXY header tells; nothing: it has none, and whose request it carries
    // is all the same.
    std::optional<base::connection_ends> ends{};
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

    // Says what works on the lease. Null: it is settled.
    void comes_from(lease_source* s) { source_ = s; }

protected:
    virtual ~pending_lease() { abandon(); }

private:
    lease_source* source_ = nullptr;
};

}  // namespace gateway::proxy
