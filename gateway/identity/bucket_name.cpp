#include "gateway/identity/bucket_name.hpp"

#include <cstdint>

namespace gateway::identity {

namespace {

// No text is that long: an address can never be taken for one, as when a client without an API key
// is named by its address and another sends those sixteen bytes as its key.
constexpr std::uint32_t address_mark = 0xffffffff;

void append_number(std::string& bytes, std::uint32_t number)
{
    // The same bytes on every machine: gateways that share a store must agree on names.
    const char little_endian[4] = {
        static_cast<char>(number),
        static_cast<char>(number >> 8),
        static_cast<char>(number >> 16),
        static_cast<char>(number >> 24),
    };
    bytes.append(little_endian, sizeof little_endian);
}

}  // namespace

void bucket_name::start(std::string_view limit_name)
{
    bytes_.clear();
    add(limit_name);
}

void bucket_name::add(std::string_view part)
{
    append_number(bytes_, static_cast<std::uint32_t>(part.size()));
    bytes_ += part;
}

void bucket_name::add(const base::ip_address& masked_client)
{
    append_number(bytes_, address_mark);
    const auto& address = masked_client.network_order();
    bytes_.append(reinterpret_cast<const char*>(address.data()), address.size());
}

}  // namespace gateway::identity
