#include "gateway/identity/bucket_name.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace gateway::identity {

namespace {

// No text is that long: an address can never be taken for one, as when a client without an API key
// is named by its address and another sends those sixteen bytes as its key.
constexpr std::uint32_t address_mark = 0xffffffff;

// The same bytes on every machine: gateways that share a store must agree on names.
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

void bucket_name::start(std::string_view limit_name)
{
    bytes_.clear();
    add(limit_name);
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

}  // namespace gateway::identity
