// `bucket_name` is the exact, unambiguous name of a bucket: a limit's name and the values of its
// key's parts, each preceded by its length, so that two different tuples can never spell the same
// bytes. It may contain secrets: stores hash it (base/hash.hpp) before it goes anywhere.
#pragma once

#include "gateway/base/hashed_name.hpp"
#include "gateway/base/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gateway::identity {

class bucket_name {
public:
    bucket_name() = default;

    // Copies a name, given the bytes of another `bucket_name`.
    explicit bucket_name(std::string_view bytes);

    // Begins a new name in the memory of the last one.
    void start(std::string_view limit_name);

    // Makes a new name with the key of another one. A known hash of the key is not computed again.
    void start(std::string_view limit_name, const bucket_name& key_of);

    void add(std::string_view part);
    void add(const base::ip_address& masked_client);

    std::string_view bytes() const { return bytes_; }

    // Returns the name with its hash. It is defined here so that a caller need not wait for the
    // result to get through memory.
    base::hashed_name hashed()
    {
        if (hashed_size_ != bytes_.size()) {
            key_hash_ = hash_of_key(key());
            hashed_size_ = bytes_.size();
        }
        return {bytes_, hash_of(limit_hash_, key_hash_, key())};
    }

private:
    std::string bytes_;
    // Position at which the limit's name ends.
    std::size_t key_from_ = 0;
    std::uint64_t limit_hash_ = 0;
    base::hash128 key_hash_;
    // Length of the bytes when the hash of the key was computed; 0: it was not.
    std::size_t hashed_size_ = 0;

    std::string_view key() const { return {bytes_.data() + key_from_, bytes_.size() - key_from_}; }

    void set_limit(std::string_view name);

    friend base::hashed_name hashed(std::string_view bytes);

    static std::uint64_t hash_of_limit(std::string_view name);
    static base::hash128 hash_of_key(std::string_view key);

    // Combines the hashes. The first half comes from both, the second from the key alone, so that a
    // table keeps together what has the same key. Limits without a key lie apart.
    static base::hash128 hash_of(
        std::uint64_t of_limit, const base::hash128& of_key, std::string_view key
    )
    {
        return {of_limit ^ of_key.low, key.empty() ? of_limit : of_key.high};
    }
};

// Returns bytes that a bucket_name wrote, with the hash that it gave them.
base::hashed_name hashed(std::string_view bytes);

// Returns the parts of such a name: the limit's name, then each part, a text or an address. They
// are views into `bytes`, which a bucket_name wrote.
std::vector<std::variant<std::string_view, base::ip_address>> parts_of(std::string_view bytes);

// Returns the first of these parts, the limit's name.
std::string_view limit_of(std::string_view bytes);

}  // namespace gateway::identity
