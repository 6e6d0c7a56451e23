#include "gateway/identity/bucket_name.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace gateway::identity {

namespace {

// Marks an address in place of a length. No text is that long, so an address can never be taken for
// one, as when a client without an API key is named by its address and another sends those sixteen
// bytes as its key.
constexpr std::uint32_t address_mark = 0xffffffff;

// Returns the same bytes on every machine, as gateways that share a store must agree on names.
std::array<char, 4> little_endian(std::uint32_t number)
{
    return {
        static_cast<char>(number),
        static_cast<char>(number >> 8),
        static_cast<char>(number >> 16),
        static_cast<char>(number >> 24),
    };
}

}  // namespace

bucket_name::bucket_name(std::string_view bytes)
{
    start(limit_of(bytes));
    bytes_ += bytes.substr(key_from_);
}

void bucket_name::start(std::string_view limit_name)
{
    set_limit(limit_name);
    bytes_.resize(key_from_);
    hashed_size_ = 0;
}

void bucket_name::start(std::string_view limit_name, const bucket_name& key_of)
{
    set_limit(limit_name);
    const std::string_view key = key_of.key();
    bytes_.resize(key_from_ + key.size());
    std::memcpy(bytes_.data() + key_from_, key.data(), key.size());
    key_hash_ = key_of.key_hash_;
    hashed_size_ = key_of.hashed_size_ == key_of.bytes_.size() ? bytes_.size() : 0;
}

// Sets the limit's name, which mostly is that of the last name.
void bucket_name::set_limit(std::string_view name)
{
    const std::size_t from = sizeof(std::uint32_t);
    const bool same = key_from_ == from + name.size() && bytes_.size() >= key_from_ &&
                      std::memcmp(bytes_.data() + from, name.data(), name.size()) == 0;
    if (!same) {
        bytes_.clear();
        add(name);
        key_from_ = bytes_.size();
        limit_hash_ = hash_of_limit(name);
    }
}

// A name's hash is made of the hashes of its two parts, so that the limits of a request with the
// same key hash it once. The two use different hash keys. Otherwise the limit's hash would cancel
// that of a client with the limit's name.
std::uint64_t bucket_name::hash_of_limit(std::string_view name)
{
    const base::hash_key& key = base::process_hash_key();
    return base::siphash128({key[1], key[0]}, name).low;
}

base::hash128 bucket_name::hash_of_key(std::string_view key)
{
    return base::siphash128(base::process_hash_key(), key);
}

base::hashed_name hashed(std::string_view bytes)
{
    const std::string_view limit = limit_of(bytes);
    const auto key = bytes.substr(sizeof(std::uint32_t) + limit.size());
    const auto of_limit = bucket_name::hash_of_limit(limit);
    return {bytes, bucket_name::hash_of(of_limit, bucket_name::hash_of_key(key), key)};
}

void bucket_name::add(std::string_view part)
{
    const auto size = little_endian(static_cast<std::uint32_t>(part.size()));
    bytes_.append(size.data(), size.size());
    bytes_ += part;
}

void bucket_name::add(const base::ip_address& masked_client)
{
    constexpr std::size_t mark_size = sizeof address_mark;
    std::array<char, mark_size + sizeof(base::ip_address::bytes)> marked;
    const auto mark = little_endian(address_mark);
    const auto& address = masked_client.network_order();
    std::memcpy(marked.data(), mark.data(), mark_size);
    std::memcpy(marked.data() + mark_size, address.data(), address.size());
    bytes_.append(marked.data(), marked.size());
}

std::vector<std::variant<std::string_view, base::ip_address>> parts_of(std::string_view bytes)
{
    std::vector<std::variant<std::string_view, base::ip_address>> parts;
    while (bytes.size() >= sizeof address_mark) {
        std::uint32_t size = 0;
        for (std::size_t i = 0; i < sizeof size; ++i) {
            size |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        }
        bytes.remove_prefix(sizeof size);
        base::ip_address::bytes address;
        if (size != address_mark) {
            parts.emplace_back(bytes.substr(0, size));
            bytes.remove_prefix(std::min<std::size_t>(size, bytes.size()));
        } else if (bytes.size() >= address.size()) {
            std::memcpy(address.data(), bytes.data(), address.size());
            parts.emplace_back(base::ip_address{address});
            bytes.remove_prefix(address.size());
        }
    }
    return parts;
}

std::string_view limit_of(std::string_view bytes)
{
    return std::get<std::string_view>(parts_of(bytes).front());
}

}  // namespace gateway::identity
