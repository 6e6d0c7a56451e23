#include "gateway/proxy/servers/health_state.hpp"

namespace gateway::proxy {

namespace {

base::duration part_of(base::duration whole, double part)
{
    return base::duration{static_cast<std::int64_t>(static_cast<double>(whole.count()) * part)};
}

}  // namespace

bool health_state::checked(bool good)
{
    if (good == healthy_) {
        against_ = 0;
        return false;
    }
    if (++against_ < (healthy_ ? unhealthy_after_ : healthy_after_)) {
        return false;
    }
    healthy_ = good;
    against_ = 0;
    return true;
}

base::duration health_state::first_pause(base::duration interval, double random)
{
    return part_of(interval, random);
}

base::duration health_state::pause(base::duration interval, double random)
{
    return part_of(interval, 0.9 + 0.2 * random);
}

}  // namespace gateway::proxy
