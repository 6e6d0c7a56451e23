// What we say to a Redis server, as bytes (RESP, by hiredis). Pure.
#pragma once

#include "gateway/store/store.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::store::redis {

// Appends one command.
void encode(std::string& out, std::span<const std::string_view> words);

// How calls of take.lua are written for one connection. `number` comes back in the reply.
struct take_call {
    std::string_view sha;  // empty before the server has told it: the script itself goes along
    std::string_view key_prefix;
    std::int64_t number = 0;
};

// Appends the call for these charges.
void encode_take(std::string& out, const take_call& call, std::span<const charge> charges);

// Appends a call that always writes: to a key of its own, gone some milliseconds later.
void encode_probe(std::string& out, const take_call& call);

// Where a bucket lives: prefix, limit, and a hash of the name, which may be a secret.
std::string key_of(std::string_view key_prefix, const charge& c);

}  // namespace gateway::store::redis
