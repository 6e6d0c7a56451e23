#include "gateway/admin/admin_access.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/policy/paths/path.hpp"

#include <openssl/crypto.h>

#include <algorithm>

namespace gateway::admin {

bool answers_to(std::string_view authority, const std::vector<std::string>& names)
{
    std::string host;
    policy::normalise_host(authority, host);
    return host.empty() || host.starts_with('[') || host == "localhost" ||
           base::ip_address::parse(host) ||
           std::find(names.begin(), names.end(), host) != names.end();
}

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
