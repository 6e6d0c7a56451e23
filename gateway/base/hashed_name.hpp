// `hashed_name` is a name with its keyed hash, computed once for lookups in several tables. The key
// is this process's own secret, so that nobody can aim collisions.
#pragma once

#include "gateway/base/hash.hpp"

#include <string_view>

namespace gateway::base {

class hashed_name {
public:
    hashed_name() = default;

    // Hashes the whole name; for a bucket, see identity::hashed().
    explicit hashed_name(std::string_view bytes);

    // Takes a hash that the caller has computed.
    // Requires: equal bytes always come with an equal `hash`.
    hashed_name(std::string_view bytes, const hash128& hash) : bytes_(bytes), hash_(hash) {}

    std::string_view bytes() const { return bytes_; }

    const hash128& hash() const { return hash_; }

private:
    std::string_view bytes_;
    hash128 hash_;
};

// Returns the key of these hashes, which is made at the first call.
const hash_key& process_hash_key();

// Sets the key to that of an earlier process, so that its hashes are found again.
// Requires: no name has been hashed yet.
void set_process_hash_key(const hash_key& key);

}  // namespace gateway::base
