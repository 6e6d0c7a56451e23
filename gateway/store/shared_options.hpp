// `shared_options` has the settings of a shared store of any kind. Code that passes them on need
// not know which.
#pragma once

#include "gateway/store/postgres/options.hpp"
#include "gateway/store/redis/protocol/options.hpp"

#include <string>
#include <variant>

namespace gateway::store {

using shared_options = std::variant<redis_options, postgres_options>;

// Returns the settings that all kinds of stores have.
inline conversation_options& common(shared_options& options)
{
    return std::visit([](auto& kind) -> conversation_options& { return kind; }, options);
}

inline const conversation_options& common(const shared_options& options)
{
    return std::visit(
        [](const auto& kind) -> const conversation_options& { return kind; }, options
    );
}

struct named_store {
    std::string name;
    shared_options options;

    bool operator==(const named_store&) const = default;
};

}  // namespace gateway::store
