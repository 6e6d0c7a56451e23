// A name and its keyed hash, which whoever has several tables to look in computes once. The key is
// this process's own secret, so that nobody can aim collisions.
#pragma once

#include "gateway/base/hash.hpp"

#include <string_view>

namespace gateway::base {

class hashed_name {
public:
    hashed_name() = default;

    // Hashes all of the name; for a bucket, see identity::hashed().
    explicit hashed_name(std::string_view bytes);

    // `hash`: always the same of the same bytes.
    hashed_name(std::string_view bytes, const hash128& hash) : bytes_(bytes), hash_(hash) {}

    std::string_view bytes() const { return bytes_; }

    const hash128& hash() const { return hash_; }

private:
    std::string_view bytes_;
    hash128 hash_;
};

// The key of such hashes: made at the first call.
const hash_key& process_hash_key();

// That of an earlier process, whose hashes are to be found again. Before any name is hashed.
void set_process_hash_key(const hash_key& key);

}  // namespace gateway::base
