// What the log hears of keys in a shared store that hold something else than a bucket, which only
// somebody can mend who deletes them: rarely, as every question about them finds them again.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/call.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace gateway::store {

class corrupt_keys {
public:
    static constexpr std::chrono::seconds told_every{10};

    // The key of a charge's bucket in the store.
    using key_finder = std::function<std::string(const charge&)>;

    // `store`: what logs call it.
    explicit corrupt_keys(std::string store) : store_(std::move(store)) {}

    // A line for the log: a key of one of these is such a one. Nothing: a line was told lately, or
    // all have been abandoned.
    std::optional<std::string> found(
        std::span<const pending_question> asked, const key_finder& key, base::instant now
    );

private:
    std::string store_;
    std::optional<base::instant> told_;
};

}  // namespace gateway::store
