// `read_parameters` reads the parameters of a GET call, "name=value&name=value". It decodes
// nothing.
#pragma once

#include "gateway/base/text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::admin {

// Calls `read` with the name and the value of each parameter, until it returns a complaint. Returns
// the complaint, which may also be about a name that comes twice, or an empty text.
template <typename Read>
std::string read_parameters(std::string_view query, Read read)
{
    std::string complaint;
    std::vector<std::string_view> names;
    const auto read_one = [&](std::string_view pair) {
        if (!complaint.empty()) {
            return;
        }
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view name = pair.substr(0, equals);
        const bool again = std::find(names.begin(), names.end(), name) != names.end();
        complaint = again ? std::string{name} + ": comes twice"
                          : std::string{read(name, pair.substr(std::min(equals + 1, pair.size())))};
        names.push_back(name);
    };
    if (!query.empty()) {
        base::for_each_element(query, '&', read_one);
    }
    return complaint;
}

}  // namespace gateway::admin
