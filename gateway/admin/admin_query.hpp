// `for_each_parameter` reads the parameters of a GET call, "name=value&name=value". It decodes
// nothing.
#pragma once

#include "gateway/base/text.hpp"

#include <algorithm>
#include <string_view>

namespace gateway::admin {

// Calls `read` with the name and the value of each parameter.
template <typename Read>
void for_each_parameter(std::string_view query, Read read)
{
    if (query.empty()) {
        return;
    }
    base::for_each_element(query, '&', [&read](std::string_view pair) {
        const std::size_t equals = std::min(pair.find('='), pair.size());
        read(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
    });
}

}  // namespace gateway::admin
