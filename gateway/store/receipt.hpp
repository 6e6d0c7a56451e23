// What charge::receipt wants.
#pragma once

#include <string>

namespace gateway::store {

// 128 bits that nobody else has, as 32 characters.
std::string fresh_receipt();

}  // namespace gateway::store
