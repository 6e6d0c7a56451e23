// The methods that everybody knows.
#pragma once

#include <string_view>

namespace gateway::http {

// The standard method (RFC 9110 §9.3 and RFC 5789) that `method` is in another letter case; empty:
// it is none. Some servers take it for the standard one, others for one of its own, so it is
// refused.
std::string_view standard_in_another_case(std::string_view method);

inline constexpr std::string_view method_in_another_case =
    "the method is a standard one in another letter case";

}  // namespace gateway::http
