#include "gateway/limits/checks/bucket_parts.hpp"

#include <array>
#include <string>

namespace gateway::limits {

void name_part(identity::bucket_name& name, std::size_t number, std::size_t count)
{
    name.add(std::to_string(number) + '/' + std::to_string(count));
}

limit::decision scaled_to_whole(
    const limit::decision& decision, const limit::limit& part, const limit::limit& whole
)
{
    using wide = __int128;
    limit::decision scaled = decision;
    scaled.remaining = static_cast<std::int64_t>(
        static_cast<wide>(decision.remaining) * whole.burst() / part.burst()
    );
    return scaled;
}

bucket_parts::part bucket_parts::choose(
    std::string_view bucket_name, const limit::limit& whole, std::int64_t cost, base::instant now
)
{
    slots_.resize(slots);
    const base::hash128 id = base::siphash128(key_, bucket_name);
    const std::size_t count = whole.parts().size();
    const std::size_t first = random_() % count;
    const std::size_t second = (first + 1 + random_() % (count - 1)) % count;
    const auto numbered = [&id](std::size_t number) {
        return part{number, {.low = id.low + number, .high = id.high + number}};
    };
    const auto left_in = [&](const part& p) {
        const slot& known = slot_of(p);
        const bool counts = known.id == p.id.high && now < known.full_at;
        return counts ? known.remaining : whole.parts()[p.number].burst();
    };
    const std::array<part, 2> two{numbered(first), numbered(second)};
    const part& fuller = left_in(two[1]) > left_in(two[0]) ? two[1] : two[0];
    if (slot& known = slot_of(fuller); known.id == fuller.id.high) {
        known.remaining -= cost;  // an estimate, as others choose before the store's answer
    }
    return fuller;
}

void bucket_parts::heard(const part& of, const limit::decision& decision, base::instant now)
{
    slot_of(of) = {
        .id = of.id.high, .remaining = decision.remaining, .full_at = now + decision.reset_after};
}

}  // namespace gateway::limits
