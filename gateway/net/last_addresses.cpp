#include "gateway/net/last_addresses.hpp"

#include "gateway/net/tcp_endpoint.hpp"

#include <map>

namespace gateway::net {

std::shared_ptr<last_addresses> last_addresses::of(const std::string& host)
{
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<last_addresses>> known;
    const std::lock_guard lock(mutex);
    std::erase_if(known, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<last_addresses>& one = known[host];
    std::shared_ptr<last_addresses> found = one.lock();
    if (found == nullptr) {
        found = std::make_shared<last_addresses>();
        one = found;
    }
    return found;
}

void last_addresses::set(const std::vector<endpoint>& all)
{
    const std::lock_guard lock(mutex_);
    all_ = all;
}

std::vector<last_addresses::endpoint> last_addresses::at(unsigned short port, std::size_t most)
    const
{
    const std::lock_guard lock(mutex_);
    std::vector<endpoint> out;
    for (const endpoint& e : all_) {
        auto tcp = tcp_endpoint_of(e);
        if (tcp && out.size() < most) {
            tcp->port(port);
            out.emplace_back(*tcp);
        }
    }
    return out;
}

}  // namespace gateway::net
