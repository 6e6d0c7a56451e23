// What we say to a Redis server, as bytes (RESP, by hiredis). Pure.
#pragma once

#include "gateway/store/store.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::store::redis {

// Appends one command.
void encode(std::string& out, std::span<const std::string_view> words);

// Appends the call of take.lua for these charges. False, and nothing appended, if one of them is a
// limit so large that its numbers would not be exact in the server's doubles.
bool encode_take(
    std::string& out, std::string_view sha, std::string_view key_prefix, std::span<const charge> charges
);

// Appends a call of take.lua that always writes: to a key of its own, gone some milliseconds later.
void encode_probe(std::string& out, std::string_view sha, std::string_view key_prefix);

// Where a bucket lives: prefix, limit, and a hash of the name, which may be a secret.
std::string key_of(std::string_view key_prefix, const charge& c);

}  // namespace gateway::store::redis
