#include "gateway/identity/web_token.hpp"

#include "gateway/base/base64.hpp"
#include "gateway/identity/claim.hpp"
#include "gateway/identity/strict_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

namespace gateway::identity {

namespace {

namespace json = boost::json;
using seconds = std::chrono::duration<double>;

// The end of time is about the year 2255, which nanoseconds in 64 bits still hold.
constexpr seconds end_of_time{9e9};

struct token_parts {
    // The signed part: header and payload, as they are written.
    std::string_view signed_text;
    std::string_view header;
    std::string_view payload;
    std::string_view signature;
};

std::optional<token_parts> split(std::string_view token)
{
    if (token.size() > max_token_bytes) {
        return std::nullopt;
    }
    const std::size_t first = token.find('.');
    const std::size_t last = token.rfind('.');
    if (first == last || token.find('.', first + 1) != last) {
        return std::nullopt;
    }
    return token_parts{
        .signed_text = token.substr(0, last),
        .header = token.substr(0, first),
        .payload = token.substr(first + 1, last - first - 1),
        .signature = token.substr(last + 1),
    };
}

std::optional<json::object> decode_object(std::string_view part)
{
    const auto text = base::decode_base64url(part);
    return text ? parse_strict_json(*text) : std::nullopt;
}

bool equals(const json::value& value, std::string_view expected)
{
    const json::string* const text = value.if_string();
    return text != nullptr && std::string_view{text->data(), text->size()} == expected;
}

// `token_header` says how a token claims to be signed. Only the key's own way is accepted.
struct token_header {
    token_algorithm algorithm;
    std::optional<std::string> key_id;
};

std::optional<token_header> read_token_header(const json::object& header)
{
    constexpr std::array<json::string_view, 6> refused{"crit", "b64", "jku", "jwk", "x5u", "x5c"};
    if (std::any_of(refused.begin(), refused.end(), [&header](json::string_view name) {
            return header.contains(name);
        })) {
        return std::nullopt;
    }
    const json::value* const alg = header.if_contains("alg");
    const json::value* const kid = header.if_contains("kid");
    if (alg == nullptr || !alg->is_string() || (kid != nullptr && !kid->is_string())) {
        return std::nullopt;
    }
    const json::string& name = alg->get_string();
    const auto algorithm = token_algorithm_of({name.data(), name.size()});
    if (!algorithm) {
        return std::nullopt;
    }
    token_header read{.algorithm = *algorithm, .key_id = {}};
    if (kid != nullptr) {
        read.key_id = std::string{kid->get_string().data(), kid->get_string().size()};
    }
    return read;
}

bool is_signed(
    const std::vector<token_key>& keys, const token_header& header, const token_parts& parts
)
{
    const auto signature = base::decode_base64url(parts.signature);
    if (!signature) {
        return false;
    }
    std::size_t tried = 0;
    return std::any_of(keys.begin(), keys.end(), [&](const token_key& key) {
        const bool may_be =
            key.algorithm() == header.algorithm && (!header.key_id || key.id == header.key_id);
        return may_be && ++tried <= max_tried_keys && key.verifies(parts.signed_text, *signature);
    });
}

// True if there is a key of the name that the token gives. A token without a name could be signed
// by any key.
bool knows_key(const std::vector<token_key>& keys, const token_header& header)
{
    return header.key_id ? std::any_of(
                               keys.begin(),
                               keys.end(),
                               [&header](const token_key& key) { return key.id == header.key_id; }
                           )
                         : !keys.empty();
}

// Returns a NumericDate (RFC 7519 §2), or `otherwise` if it is missing. Nothing if it is no number.
std::optional<seconds> read_date(
    const json::object& claims, json::string_view name, seconds otherwise
)
{
    const json::value* const date = claims.if_contains(name);
    if (date == nullptr) {
        return otherwise;
    }
    if (!date->is_number()) {
        return std::nullopt;
    }
    json::error_code ec;
    return seconds{date->to_number<double>(ec)};
}

bool is_from(const json::object& claims, const std::string& issuer)
{
    const json::value* const iss = claims.if_contains("iss");
    return issuer.empty() || (iss != nullptr && equals(*iss, issuer));
}

bool is_meant_for(const json::object& claims, const std::string& audience)
{
    if (audience.empty()) {
        return true;
    }
    const json::value* const aud = claims.if_contains("aud");
    if (aud == nullptr || !aud->is_array()) {
        return aud != nullptr && equals(*aud, audience);
    }
    const json::array& all = aud->get_array();
    return std::any_of(all.begin(), all.end(), [&audience](const json::value& one) {
        return equals(one, audience);
    });
}

std::optional<verified_token> read_claims(
    const token_rules& rules, const json::object& claims, base::duration now
)
{
    const auto exp = read_date(claims, "exp", end_of_time);
    const auto nbf = read_date(claims, "nbf", seconds::zero());
    if (!exp || !nbf || now >= *exp + token_leeway || now < *nbf - token_leeway ||
        !is_from(claims, rules.issuer) || !is_meant_for(claims, rules.audience)) {
        return std::nullopt;
    }
    verified_token token;
    token.expires = std::chrono::duration_cast<base::duration>(
        std::min(end_of_time, seconds{*exp + token_leeway})
    );
    for (const std::string& name : rules.claims) {
        const json::value* const claim = find_claim(claims, name);
        std::string text = claim != nullptr ? claim_text(*claim) : std::string{};
        if (!text.empty()) {
            token.claims.emplace_back(name, std::move(text));
        }
    }
    return token;
}

}  // namespace

std::optional<std::string_view> verified_token::claim(std::string_view name) const
{
    const auto found = std::find_if(claims.begin(), claims.end(), [name](const auto& claim) {
        return claim.first == name;
    });
    return found != claims.end() ? std::optional<std::string_view>{found->second} : std::nullopt;
}

token_verification verify_token(
    const token_rules& rules, std::string_view token, base::duration now
)
{
    const auto parts = split(token);
    if (!parts) {
        return {};
    }
    const auto header = decode_object(parts->header);
    const auto as_signed = header ? read_token_header(*header) : std::nullopt;
    const auto claims = as_signed ? decode_object(parts->payload) : std::nullopt;
    auto read = claims ? read_claims(rules, *claims, now) : std::nullopt;
    if (!read) {
        return {};
    }
    if (!is_signed(rules.keys, *as_signed, *parts)) {
        return {.forged = true, .unknown_key = !knows_key(rules.keys, *as_signed)};
    }
    return {.token = std::move(read)};
}

}  // namespace gateway::identity
