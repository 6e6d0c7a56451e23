#include "gateway/proxy/servers/ejection_state.hpp"

#include <algorithm>

namespace gateway::proxy {

bool ejection_state::failed(const ejection_options& rules, base::instant now)
{
    if (rules.failures == 0 || is_out(now)) {
        return false;
    }
    in_a_row_ = std::min(in_a_row_ + 1, rules.failures);
    return in_a_row_ == rules.failures;
}

bool ejection_state::succeeded(base::instant now)
{
    if (is_out(now)) {
        return false;
    }
    in_a_row_ = 0;
    return true;
}

void ejection_state::eject(const ejection_options& rules, base::instant now)
{
    const bool again = length_ != base::duration{0} && now - until_ < length_;
    length_ = again ? std::min(2 * length_, rules.max_time) : rules.time;
    until_ = now + length_;
    in_a_row_ = rules.failures - 1;
}

bool may_eject(
    const ejection_options& rules, std::size_t servers, std::size_t out, std::size_t left
)
{
    const std::size_t most = std::max<std::size_t>(servers * rules.max_share / 100, 1);
    return left > 0 && out < most;
}

}  // namespace gateway::proxy
