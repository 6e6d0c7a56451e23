#include "gateway/base/hashed_name.hpp"

namespace gateway::base {

hashed_name::hashed_name(std::string_view bytes)
    : hashed_name(bytes, siphash128(process_hash_key(), bytes))
{}

const hash_key& process_hash_key()
{
    static const hash_key key = random_hash_key();
    return key;
}

}  // namespace gateway::base
