// `json_text` writes JSON as people and most programs do: numbers have no exponents, where
// Boost.JSON writes 0E0 and 1.7957E9. Pure.
#pragma once

#include <boost/json/value.hpp>

#include <string>

namespace gateway::admin {

// Returns the value on one line. Bytes of its texts that are no UTF-8 become U+FFFD. Numbers that
// are no integers have a point: 0.0. Requires: finite numbers.
std::string json_text(const boost::json::value& v);

}  // namespace gateway::admin
