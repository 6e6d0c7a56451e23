// The exact, unambiguous name of a bucket: a limit's name and the values of its key's parts,
// each preceded by its length, so two different tuples can never spell the same bytes.
// It may contain secrets: stores hash it (base/hash.hpp) before it goes anywhere.
#pragma once

#include "gateway/base/hashed_name.hpp"
#include "gateway/base/ip_address.hpp"

#include <cstddef>
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

    void add(std::string_view part);
    void add(const base::ip_address& masked_client);

    std::string_view bytes() const { return bytes_; }

    // With its hash. Where `other`, whose hash has been asked for, has the same key, the hash of
    // that serves; null: there is none.
    base::hashed_name hashed(const bucket_name* other = nullptr);

private:
    std::string bytes_;
    // Where the limit's name ends.
    std::size_t key_from_ = 0;
    base::hash128 limit_hash_;
    base::hash128 key_hash_;

    std::string_view key() const { return std::string_view{bytes_}.substr(key_from_); }
};

// Bytes that a bucket_name wrote, with the hash that it gave them.
base::hashed_name hashed(std::string_view bytes);

// What such a name is made of: the limit's name, then each part, a text or an address. Views into
// `bytes`, which a bucket_name wrote.
std::vector<std::variant<std::string_view, base::ip_address>> parts_of(std::string_view bytes);

}  // namespace gateway::identity
