// `fresh_receipt` makes the unique name of a correction, for charge::receipt.
#pragma once

#include <string>

namespace gateway::store {

// Returns 128 random bits, as 32 characters.
std::string fresh_receipt();

}  // namespace gateway::store
