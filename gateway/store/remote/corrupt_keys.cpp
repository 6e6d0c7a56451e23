#include "gateway/store/remote/corrupt_keys.hpp"

#include "gateway/store/remote/encoded_call.hpp"

#include <algorithm>
#include <vector>

namespace gateway::store {

namespace {

// Most keys in one line of the log, which ends at 2 KiB.
constexpr std::size_t most_keys = 6;

// Describes the keys of these questions, each once.
std::vector<std::string> keys_of(
    std::span<const pending_question> asked, const corrupt_keys::key_finder& key
)
{
    std::vector<std::string> all;
    const auto add = [&all](const std::string& its_key, const charge& c) {
        std::string words = its_key + " of limit " + std::string{c.limit_name};
        if (std::find(all.begin(), all.end(), words) == all.end()) {
            all.push_back(std::move(words));
        }
    };
    for (const pending_question& p : asked) {
        for (const charge& c : p.asker == nullptr ? std::span<const charge>{} : p.charges) {
            add(key(c), c);
            if (c.penalty != nullptr) {
                add(ban_key_of(key(c)), c);
            }
        }
    }
    return all;
}

std::string listed(const std::vector<std::string>& keys)
{
    std::string words = keys.size() == 1 ? "the key " : "one of the keys ";
    const std::size_t shown = std::min(keys.size(), most_keys);
    for (std::size_t i = 0; i < shown; ++i) {
        words += (i == 0 ? "" : ", ") + keys[i];
    }
    const std::size_t more = keys.size() - shown;
    return words + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

}  // namespace

std::optional<std::string> corrupt_keys::found(
    std::span<const pending_question> asked, const key_finder& key, base::instant now
)
{
    if (logged_ && now - *logged_ < logged_every) {
        return std::nullopt;
    }
    const std::vector<std::string> keys = keys_of(asked, key);
    if (keys.empty()) {
        return std::nullopt;
    }
    logged_ = now;
    return "store " + store_ + ": " + listed(keys) +
           " holds something else than a bucket, so on_store_failure decides: delete it "
           "(logged once in " +
           std::to_string(logged_every.count()) + " s)";
}

}  // namespace gateway::store
