#include "gateway/identity/key_fetch_state.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::identity {

namespace {

constexpr std::string_view age_directive = "max-age=";
constexpr std::uint64_t most_seconds = 1'000'000'000;

}  // namespace

key_fetch_state::key_fetch_state(base::duration refresh, base::instant now)
    : refresh_(refresh), next_(now), unknown_from_(now)
{}

std::optional<base::instant> key_fetch_state::next() const
{
    return under_way_ ? std::nullopt : std::optional{next_};
}

void key_fetch_state::begin()
{
    under_way_ = true;
}

void key_fetch_state::succeeded(base::instant now, std::optional<base::duration> life)
{
    under_way_ = failing_ = for_unknown_ = false;
    pause_ = {};
    next_ = now + std::clamp(life.value_or(refresh_), shortest_life, longest_life);
}

void key_fetch_state::failed(base::instant now)
{
    under_way_ = for_unknown_ = false;
    failing_ = true;
    pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
    next_ = now + pause_;
}

void key_fetch_state::note_unknown(base::instant now)
{
    if (now < unknown_from_) {
        return;
    }
    unknown_from_ = now + unknown_interval;
    for_unknown_ = true;
    next_ = std::min(next_, now);
}

std::optional<base::duration> life_by(std::string_view cache_control)
{
    std::optional<base::duration> life;
    base::for_each_element(cache_control, ',', [&life](std::string_view directive) {
        const std::string_view name = directive.substr(0, age_directive.size());
        if (life || !base::equal_ignoring_case(name, age_directive)) {
            return;
        }
        const auto digits = base::without_quotes(directive.substr(name.size()));
        if (const auto age = base::parse_decimal(digits, most_seconds)) {
            life = std::chrono::seconds{static_cast<std::int64_t>(*age)};
        }
    });
    return life;
}

}  // namespace gateway::identity
