// `write_explanation()` writes an explanation for people to read. Pure.
#pragma once

#include <boost/json/object.hpp>

#include <ostream>

namespace gateway {

// Writes `explanation`, which admin::as_json() made, here or in another version of the gateway.
// Members that it does not have are left out.
void write_explanation(const boost::json::object& explanation, std::ostream& out);

}  // namespace gateway
