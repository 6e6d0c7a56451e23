// `encode` and its companions turn commands to a Redis server into bytes (RESP, by hiredis). Pure.
#pragma once

#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/remote/encoded_call.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::store::redis {

// Scripts, which CMake embeds from the .lua files.
extern const std::string_view take_script;
extern const std::string_view rebase_script;

// Appends one command.
void encode(std::string& out, std::span<const std::string_view> words);

// Appends the login of the options' user, or nothing without a password.
void encode_login(std::string& out, const redis_options& options);

// Appends the call of the script take.lua, which the server knows by that SHA.
void encode_take(std::string& out, std::string_view script_sha, const encoded_call& encoded);

}  // namespace gateway::store::redis
