// `standard_in_another_case` recognizes the standard methods in another letter case.
#pragma once

#include <string_view>

namespace gateway::http {

// Returns the standard method (RFC 9110 §9.3 and RFC 5789) that `method` is in another letter case,
// or an empty text. Some servers take it for the standard one, others for a method of its own, so
// the gateway refuses it.
std::string_view standard_in_another_case(std::string_view method);

inline constexpr std::string_view method_in_another_case =
    "the method is a standard one in another letter case";

}  // namespace gateway::http
