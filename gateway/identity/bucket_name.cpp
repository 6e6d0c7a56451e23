#include "gateway/identity/bucket_name.hpp"

#include <cstdint>

namespace gateway::identity {

namespace {

// No text is that long: an address can never be taken for one, as when a client without an API key
// is named by its address and another sends those sixteen bytes as its key.
constexpr std::uint32_t address_mark = 0xffffffff;

void append_number(std::string& bytes, std::uint32_t number)
{
    for (int shift = 0; shift < 32; shift += 8) {
        bytes += static_cast<char>(number >> shift & 0xff);
    }
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
    for (const std::uint8_t byte : masked_client.network_order()) {
        bytes_ += static_cast<char>(byte);
    }
}

}  // namespace gateway::identity
