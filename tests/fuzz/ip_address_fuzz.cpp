// Input: the text of an address or a prefix.
#include "gateway/base/ip_prefix.hpp"
#include "tests/fuzz/require.hpp"

#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace gateway;
    using fuzz::require;

    const std::string text(data, data + size);
    const auto address = base::ip_address::parse(text);
    if (text.find('\0') == std::string::npos) {
        std::array<unsigned char, 16> bytes;
        const bool theirs = ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
                            ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
        require(address.has_value() == theirs);
    } else {
        require(!address);
    }
    if (address) {
        const std::string canonical = address->to_string();
        require(base::ip_address::parse(canonical) == address);
        require(base::ip_address::parse(canonical)->to_string() == canonical);
        require(base::ip_prefix::parse(text)->contains(*address));
    }
    if (const auto prefix = base::ip_prefix::parse(text)) {
        require(base::ip_prefix::parse(prefix->to_string()) == prefix);
        const auto first = base::ip_address::parse(text.substr(0, text.find('/')));
        require(first && prefix->contains(*first));
    }
    return 0;
}
