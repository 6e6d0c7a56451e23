#include "gateway/base/ip_prefix.hpp"

#include "gateway/base/bytes16.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gateway::base {

namespace {

constexpr int v4_mapping_length = 96;

ip_address masked_to(const ip_address& address, int length)
{
    return address.masked(length - v4_mapping_length, length);
}

bytes16 words(const ip_address& address)
{
    return std::bit_cast<bytes16>(address.network_order());
}

}  // namespace

std::optional<ip_prefix> ip_prefix::parse(std::string_view text)
{
    const std::size_t slash = text.find('/');
    const std::string_view first_text = text.substr(0, slash);
    const auto first = ip_address::parse(first_text);
    if (!first) {
        return std::nullopt;
    }
    ip_prefix prefix;
    prefix.first_ = *first;
    prefix.first_is_v4_ = first->is_v4();
    if (slash == std::string_view::npos) {
        return prefix;
    }

    const std::string_view digits = text.substr(slash + 1);
    const bool dotted = first_text.find(':') == std::string_view::npos;
    const auto length = parse_decimal(digits, dotted ? 32 : 128);
    if (!length || (digits.size() > 1 && digits[0] == '0')) {
        return std::nullopt;
    }
    prefix.length_ = static_cast<int>(*length) + (dotted ? v4_mapping_length : 0);
    prefix.mask_ = prefix.mask_.masked(prefix.length_, prefix.length_);
    if (masked_to(*first, prefix.length_) != *first) {
        return std::nullopt;
    }
    return prefix;
}

// The prefix 0.0.0.0/0 contains all of IPv4, and no IPv6 prefix contains an IPv4 address.
bool ip_prefix::contains(const ip_address& address) const
{
    const bytes16 differs = (words(first_) ^ words(address)) & words(mask_);
    return !any_true(differs != 0) && (first_is_v4_ || !address.is_v4());
}

std::string ip_prefix::to_string() const
{
    const int length = first_is_v4_ ? length_ - v4_mapping_length : length_;
    return first_.to_string() + "/" + std::to_string(length);
}

ip_prefix_set::ip_prefix_set(std::vector<ip_prefix> prefixes) : prefixes_(std::move(prefixes)) {}

bool ip_prefix_set::contains(const ip_address& address) const
{
    return std::any_of(prefixes_.begin(), prefixes_.end(), [&](const ip_prefix& prefix) {
        return prefix.contains(address);
    });
}

}  // namespace gateway::base
