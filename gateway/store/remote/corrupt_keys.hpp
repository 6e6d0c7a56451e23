// `corrupt_keys` writes log lines about keys in a shared store that hold something other than a
// bucket. Only a person who deletes them can repair that. The lines are rare, as every question
// about such keys finds them again.
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
    static constexpr std::chrono::seconds logged_every{10};

    // Returns the key of a charge's bucket in the store.
    using key_finder = std::function<std::string(const charge&)>;

    // `store` is the store's name in logs.
    explicit corrupt_keys(std::string store) : store_(std::move(store)) {}

    // Returns a line for the log that names the keys of these questions, one of which is corrupt.
    // Returns nothing if there was a line lately, or if all questions were abandoned.
    std::optional<std::string> found(
        std::span<const pending_question> asked, const key_finder& key, base::instant now
    );

private:
    std::string store_;
    std::optional<base::instant> logged_;
};

}  // namespace gateway::store
