#include "gateway/admin/admin_hosts.hpp"

#include "gateway/base/ip_address.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>

namespace gateway::admin {

bool answers_to(std::string_view authority, const std::vector<std::string>& names)
{
    std::string host;
    policy::normalise_host(authority, host);
    return host.empty() || host.starts_with('[') || host == "localhost" ||
           base::ip_address::parse(host) ||
           std::find(names.begin(), names.end(), host) != names.end();
}

}  // namespace gateway::admin
