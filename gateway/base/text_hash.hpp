// The hash of tables by texts in which a view of a text is looked for.
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
