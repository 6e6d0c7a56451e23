// An explanation as people read it. Pure.
#pragma once

#include <boost/json/object.hpp>

#include <ostream>

namespace gateway {

// `told`: as admin::as_json() makes it, here or in another version of the gateway: what it does
// not have is left out.
void write_explanation(const boost::json::object& told, std::ostream& out);

}  // namespace gateway
