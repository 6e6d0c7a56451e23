#include "config/routes/credential_fields.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::config {
namespace {

// Parts of names that tell of a credential, in lower case.
constexpr std::array<std::string_view, 9> telling{
    "auth", "cookie", "key", "token", "secret", "passw", "credential", "signature", "verify"};

}  // namespace

bool is_credential_field(std::string_view name)
{
    const std::string lower = base::lower_case(name);
    return std::any_of(telling.begin(), telling.end(), [&lower](std::string_view part) {
        return lower.find(part) != std::string::npos;
    });
}

}  // namespace gateway::config
