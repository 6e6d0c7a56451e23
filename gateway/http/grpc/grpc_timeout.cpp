#include "gateway/http/grpc/grpc_timeout.hpp"

#include "gateway/base/text.hpp"

namespace gateway::http {

namespace {

constexpr std::uint64_t most_digits = 99'999'999;

// Returns the length of a unit, or 0 for a letter that is none.
base::duration unit_of(char letter)
{
    switch (letter) {
        case 'H':
            return std::chrono::hours{1};
        case 'M':
            return std::chrono::minutes{1};
        case 'S':
            return std::chrono::seconds{1};
        case 'm':
            return std::chrono::milliseconds{1};
        case 'u':
            return std::chrono::microseconds{1};
        case 'n':
            return std::chrono::nanoseconds{1};
        default:
            return base::duration{0};
    }
}

}  // namespace

std::optional<base::duration> read_grpc_timeout(std::string_view value)
{
    constexpr std::size_t most_bytes = std::string_view("99999999H").size();
    if (value.empty() || value.size() > most_bytes) {
        return std::nullopt;
    }
    const base::duration unit = unit_of(value.back());
    const auto number = base::parse_decimal(value.substr(0, value.size() - 1), most_digits);
    if (unit == base::duration{0} || !number || *number == 0) {
        return std::nullopt;
    }
    const auto count = static_cast<base::duration::rep>(*number);
    return count > longest_grpc_timeout / unit ? longest_grpc_timeout : count * unit;
}

}  // namespace gateway::http
