// What we say to a Redis server, as bytes (RESP, by hiredis). Pure.
#pragma once

#include "gateway/store/told_call.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::store::redis {

// Appends one command.
void encode(std::string& out, std::span<const std::string_view> words);

// Appends the call of the script take.lua, which the server knows by that SHA.
void encode_take(std::string& out, std::string_view script_sha, const told_call& told);

}  // namespace gateway::store::redis
