#include "gateway/base/hashed_name.hpp"

namespace gateway::base {

hashed_name::hashed_name(std::string_view bytes)
    : hashed_name(bytes, siphash128(process_hash_key(), bytes))
{}

namespace {

hash_key& process_key()
{
    static hash_key key = random_hash_key();
    return key;
}

}  // namespace

const hash_key& process_hash_key()
{
    return process_key();
}

void set_process_hash_key(const hash_key& key)
{
    process_key() = key;
}

}  // namespace gateway::base
