#include "gateway/store/remote/breaker_state.hpp"

namespace gateway::store {

bool breaker_state::counts(failure why)
{
    switch (why) {
        case failure::unreachable:
        case failure::timeout:
        case failure::loading:
        case failure::readonly:
            return true;
        case failure::auth:
        case failure::config:
        case failure::corrupt:
        case failure::protocol:
        case failure::overload:
        case failure::open:
            return false;
    }
    return false;
}

bool breaker_state::failed(failure why, base::instant now)
{
    if (open_ || !counts(why)) {
        return false;
    }
    ++part_at(now).bad;
    ++in_a_row_;
    open_ = in_a_row_ >= options_.failures || half_failed(now);
    return open_;
}

void breaker_state::succeeded(base::instant now)
{
    if (!open_) {
        ++part_at(now).good;
        in_a_row_ = 0;
    }
}

void breaker_state::probe_succeeded()
{
    *this = breaker_state{options_};
}

base::duration breaker_state::pause(double random) const
{
    const auto third = static_cast<double>(options_.pause.count()) / 3;
    return base::duration{static_cast<std::int64_t>(third * (2 + random))};
}

std::int64_t breaker_state::part_number(base::instant now) const
{
    return now.time_since_epoch() / part_length_;
}

breaker_state::part& breaker_state::part_at(base::instant now)
{
    const std::int64_t number = part_number(now);
    part& p = parts_[static_cast<std::size_t>(number) % part_count];
    if (p.number != number) {
        p = {.number = number, .good = 0, .bad = 0};
    }
    return p;
}

bool breaker_state::half_failed(base::instant now) const
{
    const std::int64_t newest = part_number(now);
    const std::int64_t oldest = newest - static_cast<std::int64_t>(part_count) + 1;
    std::uint32_t good = 0;
    std::uint32_t bad = 0;
    for (const part& p : parts_) {
        if (p.number >= oldest && p.number <= newest) {
            good += p.good;
            bad += p.bad;
        }
    }
    return good + bad >= options_.decisions && bad >= good;
}

}  // namespace gateway::store
