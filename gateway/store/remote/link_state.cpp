#include "gateway/store/remote/link_state.hpp"

#include <algorithm>
#include <cassert>

namespace gateway::store {

namespace {

constexpr base::duration least_stage = std::chrono::milliseconds{250};
constexpr base::duration most_stage = std::chrono::milliseconds{400};

}  // namespace

base::duration stage_limit(base::duration timeout)
{
    return std::clamp(timeout, least_stage, most_stage);
}

std::optional<failure> link_state::unusable() const
{
    if (phase_ == phase::ready) {
        return std::nullopt;
    }
    return last_;
}

void link_state::connecting()
{
    assert(phase_ == phase::resting);
    phase_ = phase::connecting;
}

void link_state::connected()
{
    assert(phase_ == phase::connecting);
    phase_ = phase::greeting;
}

void link_state::greeted()
{
    assert(phase_ == phase::greeting);
    phase_ = phase::ready;
    tried_ = true;
}

void link_state::lost(failure why)
{
    if (phase_ != phase::closed) {
        phase_ = phase::resting;
        last_ = why;
        tried_ = true;
        losses_ = std::min(losses_ + 1, 16);
    }
}

void link_state::close()
{
    phase_ = phase::closed;
    last_ = failure::unreachable;
}

base::duration link_state::rest(double random, base::duration spent) const
{
    const auto part = [random](base::duration whole) {
        const auto half = static_cast<double>(whole.count()) / 2;
        return base::duration{static_cast<std::int64_t>(half + half * random)};
    };
    const bool refused = last_ == failure::auth || last_ == failure::config;
    const int doublings = std::max(losses_ - 1, 0);
    const base::duration whole =
        refused ? longest_rest : std::min(shortest_rest * (1 << doublings), longest_rest);
    return std::max(part(whole) - spent, std::min(part(whole), part(2 * shortest_rest)));
}

}  // namespace gateway::store
