// `text_hash` is the hash of tables that are keyed by strings and searched by string views.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace gateway::base {

struct text_hash {
    using is_transparent = void;

    std::size_t operator()(std::string_view text) const
    {
        return std::hash<std::string_view>{}(text);
    }
};

}  // namespace gateway::base
