#include "gateway/store/redis/cluster/slot.hpp"

#include "gateway/base/hash.hpp"

#include <array>

namespace gateway::store::redis {

namespace {

// CRC-16/XMODEM, as the cluster specification requires it.
constexpr std::array<std::uint16_t, 256> make_table()
{
    std::array<std::uint16_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t crc = byte << 8U;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
        }
        table[byte] = static_cast<std::uint16_t>(crc);
    }
    return table;
}

constexpr auto table = make_table();

// Returns the client's part of a bucket's name: all of it but the limit's name, which it begins
// with, behind the four bytes of that name's length (see identity::bucket_name).
std::string_view client_in(const charge& c)
{
    constexpr std::size_t length_bytes = 4;
    const std::string_view name = c.bucket_name.bytes();
    const std::size_t end = length_bytes + c.limit_name.size();
    const bool has_limit =
        name.size() >= end && name.substr(length_bytes, c.limit_name.size()) == c.limit_name;
    return has_limit ? name.substr(end) : name;
}

}  // namespace

std::uint16_t slot_of(std::string_view tag)
{
    std::uint32_t crc = 0;
    for (const char c : tag) {
        const auto byte = static_cast<unsigned char>(c);
        crc = ((crc << 8U) & 0xffffU) ^ table[((crc >> 8U) ^ byte) & 0xffU];
    }
    return static_cast<std::uint16_t>(crc % slot_count);
}

std::string tag_of(const charge& c)
{
    return base::sha256_hex128(client_in(c)).substr(0, 8);
}

std::string tagged(std::string_view key_prefix, std::string_view tag)
{
    std::string prefix{key_prefix};
    return prefix.append("{").append(tag).append("}");
}

std::string tag_in(std::uint16_t slot)
{
    int number = 0;
    while (slot_of(std::to_string(number)) != slot) {
        ++number;
    }
    return std::to_string(number);
}

}  // namespace gateway::store::redis
