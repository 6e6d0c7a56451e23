#include "gateway/http/method.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::http {

namespace {

constexpr std::array<std::string_view, 9> standard_methods{
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};

}  // namespace

std::string_view standard_in_another_case(std::string_view method)
{
    const auto* const found = std::find_if(
        standard_methods.begin(),
        standard_methods.end(),
        [method](std::string_view standard) { return base::equal_ignoring_case(method, standard); }
    );
    return found == standard_methods.end() || *found == method ? std::string_view{} : *found;
}

}  // namespace gateway::http
