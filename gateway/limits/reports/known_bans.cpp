#include "gateway/limits/reports/known_bans.hpp"

#include <algorithm>
#include <map>

namespace gateway::limits {

void known_bans::note(const base::hashed_name& bucket, base::instant until, base::instant now)
{
    const auto found = bans_.find(bucket.hash());
    if (found != bans_.end()) {
        found->second.until = until;
    } else if (bucket.bytes().size() <= longest_name && make_room(now)) {
        bans_.emplace(bucket.hash(), ban{std::string{bucket.bytes()}, until});
    } else {
        left_out_until_ = std::max(left_out_until_, until);
    }
}

bool known_bans::make_room(base::instant now)
{
    constexpr base::duration between_looks = std::chrono::seconds{1};
    if (bans_.size() == most && now >= next_look_) {
        next_look_ = now + between_looks;
        std::erase_if(bans_, [now](const auto& one) { return one.second.until <= now; });
    }
    return bans_.size() < most;
}

std::vector<known_bans::ban> known_bans::all(base::instant now) const
{
    std::vector<ban> all;
    for (const auto& [id, one] : bans_) {
        if (one.until > now) {
            all.push_back(one);
        }
    }
    return all;
}

std::vector<known_bans::ban> merged(const std::vector<known_bans::ban>& of)
{
    std::map<std::string, base::instant> latest;
    for (const known_bans::ban& b : of) {
        base::instant& until = latest[b.name];
        until = std::max(until, b.until);
    }
    std::vector<known_bans::ban> all;
    all.reserve(latest.size());
    for (const auto& [name, until] : latest) {
        all.push_back({name, until});
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.until > b.until;
    });
    return all;
}

}  // namespace gateway::limits
