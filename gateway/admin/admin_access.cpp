#include "gateway/admin/admin_access.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/base/text.hpp"

#include <openssl/crypto.h>

#include <string>

namespace gateway::admin {

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
    const std::string expected = base::sha256_hex128(token);
    const std::string given = base::sha256_hex128(presented);
    const bool same = CRYPTO_memcmp(expected.data(), given.data(), expected.size()) == 0;
    return same ? access::granted : access::refused;
}

}  // namespace gateway::admin
