// The exact, unambiguous name of a bucket: a limit's name and the values of its key's parts,
// each preceded by its length, so two different tuples can never spell the same bytes.
// It may contain secrets: stores hash it (base/hash.hpp) before it goes anywhere.
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

    // The bytes of another one.
    explicit bucket_name(std::string_view bytes);

    // Begins a new name in the memory of the last one.
    void start(std::string_view limit_name);

    // A new name with the key of another one, whose hash is not made again if it is known.
    void start(std::string_view limit_name, const bucket_name& key_of);

    void add(std::string_view part);
    void add(const base::ip_address& masked_client);

    std::string_view bytes() const { return bytes_; }

    // With its hash. Here, so that a caller need not wait for it to get through memory.
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
    // Where the limit's name ends.
    std::size_t key_from_ = 0;
    std::uint64_t limit_hash_ = 0;
    base::hash128 key_hash_;
    // The length of the bytes when that was made; 0: it was not.
    std::size_t hashed_size_ = 0;

    std::string_view key() const { return {bytes_.data() + key_from_, bytes_.size() - key_from_}; }

    void set_limit(std::string_view name);

    friend base::hashed_name hashed(std::string_view bytes);

    static std::uint64_t hash_of_limit(std::string_view name);
    static base::hash128 hash_of_key(std::string_view key);

    // The first half is made of both, the second of the key alone: a table has together what has
    // the same key. Limits without a key have nothing in common, and are apart.
    static base::hash128 hash_of(
        std::uint64_t of_limit, const base::hash128& of_key, std::string_view key
    )
    {
        return {of_limit ^ of_key.low, key.empty() ? of_limit : of_key.high};
    }
};

// Bytes that a bucket_name wrote, with the hash that it gave them.
base::hashed_name hashed(std::string_view bytes);

// What such a name is made of: the limit's name, then each part, a text or an address. Views into
// `bytes`, which a bucket_name wrote.
std::vector<std::variant<std::string_view, base::ip_address>> parts_of(std::string_view bytes);

}  // namespace gateway::identity
