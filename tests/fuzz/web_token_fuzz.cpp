// Input: a token, a key set, or a header and a payload with '\n' between them, which are signed.
#include "gateway/identity/web_token.hpp"

#include "gateway/identity/strict_json.hpp"
#include "gateway/identity/token_keys.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace gateway;
using namespace std::chrono_literals;
using fuzz::require;

constexpr base::duration today = 1'800'000'000s;

identity::token_rules rules_of(const identity::issuer& by)
{
    identity::token_rules rules;
    rules.keys = identity::parse_token_keys(by.jwks()).keys;
    rules.claims = {"a.b.c", "iss", "sub"};
    return rules;
}

void check_token(const identity::token_rules& rules, const std::string& token, bool is_signed)
{
    const auto [verified, forged, unknown_key] = identity::verify_token(rules, token, today);
    require(!verified || (!forged && !unknown_key));
    if (!verified) {
        return;
    }
    require(is_signed && token.size() <= identity::max_token_bytes && verified->expires > today);
    for (const auto& [name, value] : verified->claims) {
        require(!value.empty() && value.size() <= identity::max_claim_bytes);
        require(verified->claim(name) == value);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const identity::issuer by{"HS256"};
    static const identity::token_rules rules = rules_of(by);
    const std::string text(data, data + size);
    check_token(rules, text, false);

    const identity::token_keys keys = identity::parse_token_keys(text);
    require(keys.complaint.empty() == !keys.keys.empty());
    require(keys.keys.size() <= identity::max_token_keys);

    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string payload = text.substr(std::min(end + 1, text.size()));
    check_token(rules, by.sign(text.substr(0, end), payload), true);
    const std::string token = by.token(text);
    require(
        !identity::verify_token(rules, token, today).token || identity::parse_strict_json(text)
    );
    check_token(rules, token, true);
    return 0;
}
