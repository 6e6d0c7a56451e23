// `last_addresses` holds the last good answer about a host, which all who resolve its name share. A
// name that is made anew while the resolver fails, as at a reload, begins with it.
// Thread: any.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gateway::net {

class last_addresses {
public:
    using endpoint = boost::asio::generic::stream_protocol::endpoint;

    // Returns the object of the host.
    // Ownership: it lives as long as anybody holds it.
    static std::shared_ptr<last_addresses> of(const std::string& host);

    void set(const std::vector<endpoint>& all);

    // Returns at most `most` of the addresses, with this port; none if there was no good answer
    // yet.
    std::vector<endpoint> at(unsigned short port, std::size_t most) const;

private:
    mutable std::mutex mutex_;
    std::vector<endpoint> all_;
};

}  // namespace gateway::net
