#include "gateway/admin/admin_access.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/base/text.hpp"

namespace gateway::admin {

namespace {

// True if the texts are equal.
// Requires: both have the same length.
bool same_in_constant_time(std::string_view a, std::string_view b)
{
    unsigned differ = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        differ |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    }
    return differ == 0;
}

}  // namespace

access access_with(std::string_view token, std::string_view authorization)
{
    if (token.empty()) {
        return access::closed;
    }
    constexpr std::string_view scheme = "bearer ";
    if (!base::equal_ignoring_case(authorization.substr(0, scheme.size()), scheme)) {
        return access::refused;
    }
    const std::string_view presented = base::trimmed(authorization.substr(scheme.size()));
    // The hashes are compared, as they are equally long whatever the caller sent.
    const bool same =
        same_in_constant_time(base::sha256_hex128(token), base::sha256_hex128(presented));
    return same ? access::granted : access::refused;
}

}  // namespace gateway::admin
