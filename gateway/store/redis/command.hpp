// What we say to a Redis server, as bytes (RESP, by hiredis). Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/call.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::store::redis {

// Appends one command.
void encode(std::string& out, std::span<const std::string_view> words);

// The script take.lua as one connection calls it.
struct take_script_of {
    std::string_view sha;
    std::string_view key_prefix;
};

// Appends the call of it for these questions. `unix_now`: around it are the windows of a calendar
// that the script is told of.
void encode_take(
    std::string& out, const take_script_of& script, const call& asked, base::duration unix_now
);

// Appends a call of it that always writes: to a key of its own, gone some milliseconds later.
void encode_probe(std::string& out, const take_script_of& script, std::int64_t number);

// Where a bucket lives: prefix, limit, and a hash of the name, which may be a secret.
std::string key_of(std::string_view key_prefix, const charge& c);

}  // namespace gateway::store::redis
