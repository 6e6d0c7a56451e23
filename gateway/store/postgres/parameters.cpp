#include "gateway/store/postgres/parameters.hpp"

#include <bit>
#include <concepts>

namespace gateway::store::postgres {

namespace {

// Types of elements, as in pg_type.
constexpr std::uint32_t element_bigint = 20;
constexpr std::uint32_t element_text = 25;

constexpr std::size_t head_size = 20;
constexpr std::size_t number_size = sizeof(std::uint32_t) + sizeof(std::int64_t);

template <std::unsigned_integral T>
void put(std::string& out, T number)
{
    for (std::size_t i = sizeof(T); i-- > 0;) {
        out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
    }
}

template <std::unsigned_integral T>
T get(std::span<const char>& from)
{
    T number = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        number = static_cast<T>(number << 8) | static_cast<unsigned char>(from[i]);
    }
    from = from.subspan(sizeof(T));
    return number;
}

// Appends the head of an array: one dimension, no nulls, counted from 1.
void put_head(std::string& out, std::uint32_t type, std::size_t size)
{
    put<std::uint32_t>(out, 1);
    put<std::uint32_t>(out, 0);
    put<std::uint32_t>(out, type);
    put<std::uint32_t>(out, static_cast<std::uint32_t>(size));
    put<std::uint32_t>(out, 1);
}

}  // namespace

std::string encode_texts(const texts& all)
{
    std::string out;
    put_head(out, element_text, all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        put<std::uint32_t>(out, static_cast<std::uint32_t>(all[i].size()));
        out += all[i];
    }
    return out;
}

std::string encode_numbers(std::span<const std::int64_t> all)
{
    std::string out;
    out.reserve(head_size + all.size() * number_size);
    put_head(out, element_bigint, all.size());
    for (const std::int64_t number : all) {
        put<std::uint32_t>(out, sizeof(number));
        put(out, static_cast<std::uint64_t>(number));
    }
    return out;
}

std::optional<std::vector<std::int64_t>> decode_numbers(std::span<const char> bytes)
{
    if (bytes.size() < head_size || get<std::uint32_t>(bytes) != 1 ||
        get<std::uint32_t>(bytes) != 0 || get<std::uint32_t>(bytes) != element_bigint) {
        return std::nullopt;
    }
    const std::size_t size = get<std::uint32_t>(bytes);
    get<std::uint32_t>(bytes);  // the lower bound of the dimension
    if (size > most_numbers || bytes.size() != size * number_size) {
        return std::nullopt;
    }
    std::vector<std::int64_t> numbers;
    numbers.reserve(size);
    while (!bytes.empty()) {
        if (get<std::uint32_t>(bytes) != sizeof(std::int64_t)) {
            return std::nullopt;
        }
        numbers.push_back(std::bit_cast<std::int64_t>(get<std::uint64_t>(bytes)));
    }
    return numbers;
}

}  // namespace gateway::store::postgres
