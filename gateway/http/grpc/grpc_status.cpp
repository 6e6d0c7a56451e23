#include "gateway/http/grpc/grpc_status.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::http {

grpc_status read_grpc_status(std::string_view value)
{
    constexpr std::uint64_t most = 999'999'999;
    const auto number = base::parse_decimal(value, most);
    if (!number) {
        return grpc_status::unknown;
    }
    return static_cast<grpc_status>(std::min<std::uint64_t>(*number, number_of(grpc_status::other))
    );
}

grpc_status own_grpc_status(int status, bool timed_out)
{
    switch (status) {
        case 401:
            return grpc_status::unauthenticated;
        case 403:
            return grpc_status::permission_denied;
        case 404:
        case 405:
        case 501:
        case 505:
            return grpc_status::unimplemented;
        case 408:
            return grpc_status::deadline_exceeded;
        case 413:
        case 414:
        case 429:
        case 431:
            return grpc_status::resource_exhausted;
        case 502:
        case 503:
            return grpc_status::unavailable;
        case 504:
            return timed_out ? grpc_status::deadline_exceeded : grpc_status::unavailable;
        default:
            return status < 500 ? grpc_status::invalid_argument : grpc_status::internal;
    }
}

grpc_status implied_grpc_status(int status)
{
    switch (status) {
        case 400:
            return grpc_status::internal;
        case 401:
            return grpc_status::unauthenticated;
        case 403:
            return grpc_status::permission_denied;
        case 404:
            return grpc_status::unimplemented;
        case 429:
        case 502:
        case 503:
        case 504:
            return grpc_status::unavailable;
        default:
            return grpc_status::unknown;
    }
}

std::string grpc_message(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    encoded.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte <= 0x7e && c != '%') {
            encoded += c;
        } else {
            encoded.append({'%', digits[byte >> 4], digits[byte & 15]});
        }
    }
    return encoded;
}

}  // namespace gateway::http
