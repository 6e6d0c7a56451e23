#include "gateway/base/crc32c.hpp"

#include <array>
#include <cstddef>

namespace gateway::base {

namespace {

// The polynomial with its bits reversed.
constexpr std::uint32_t polynomial = 0x82f63b78;

// Returns a table in which entry i is the change of the checksum by a byte i.
constexpr std::array<std::uint32_t, 256> make_table()
{
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
        }
        table[i] = value;
    }
    return table;
}

constexpr auto table = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before)
{
    std::uint32_t sum = ~before;
    for (const char c : bytes) {
        sum = (sum >> 8) ^ table[(sum ^ static_cast<std::uint8_t>(c)) & 0xff];
    }
    return ~sum;
}

}  // namespace gateway::base
