#include "gateway/identity/token_keys.hpp"

#include "gateway/base/base64.hpp"
#include "gateway/identity/strict_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace gateway::identity {

namespace {

namespace json = boost::json;

// `key_reading` reads one key of a set.
struct key_reading {
    const json::object& members;
    keys_from from;
    // The reason why the key is no good. Empty if it is good.
    std::string complaint{};
    // True if the key is only for another purpose.
    bool is_foreign = false;

    // Returns null if the member is missing, or is no text, which is complained of.
    const json::string* text(std::string_view name)
    {
        const json::value* const value = members.if_contains({name.data(), name.size()});
        if (value != nullptr && !value->is_string()) {
            complain(name, "expected a string");
        }
        return value != nullptr ? value->if_string() : nullptr;
    }

    // Returns the bytes of a required member, or complains and returns an empty text.
    std::string bytes(std::string_view name)
    {
        const json::string* const encoded = text(name);
        if (encoded == nullptr) {
            complain(name, "missing");
            return {};
        }
        auto decoded = base::decode_base64url({encoded->data(), encoded->size()});
        if (!decoded) {
            complain(name, "expected base64url without padding");
        }
        return decoded ? *std::move(decoded) : std::string{};
    }

    // Keeps the first complaint only.
    void complain(std::string_view name, std::string_view what)
    {
        if (complaint.empty()) {
            complaint.append(".").append(name).append(": ").append(what);
        }
    }

    std::optional<token_key> foreign(std::string what)
    {
        complaint = ": " + std::move(what);
        is_foreign = true;
        return std::nullopt;
    }

    std::optional<token_key> checked(
        std::optional<token_key> key, std::string_view name, std::string_view expected
    )
    {
        if (!key) {
            complain(name, expected);
        }
        return key;
    }
};

bool is(const json::string* text, std::string_view word)
{
    return text != nullptr && std::string_view{text->data(), text->size()} == word;
}

// Returns a member's unsupported value for a message: in quotes, and cut at 32 bytes.
std::string quoted(const json::string& text)
{
    constexpr std::size_t longest = 32;
    std::string shown{text.data(), std::min(text.size(), longest)};
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?'
    );
    return '"' + shown + '"';
}

std::optional<token_key> read_rsa(key_reading& from)
{
    const std::string modulus = from.bytes("n");
    const std::string exponent = from.bytes("e");
    return from.checked(
        token_key::rsa(modulus, exponent),
        "n",
        "expected an RSA key of 2048 to 8192 bits, with an odd exponent from 3"
    );
}

std::optional<token_key> read_on_curve(key_reading& from, std::string_view ours)
{
    const json::string* const curve = from.text("crv");
    if (curve == nullptr) {
        from.complain("crv", "missing");
        return std::nullopt;
    }
    if (!is(curve, ours)) {
        return from.foreign("curve " + quoted(*curve) + " is not supported");
    }
    const std::string x = from.bytes("x");
    if (ours == "Ed25519") {
        return from.checked(token_key::ed25519(x), "x", "expected the 32 bytes of a public key");
    }
    return from.checked(
        token_key::p256(x, from.bytes("y")), "x", "with y, expected a point of P-256, 32 bytes each"
    );
}

// Reads the key by its type, which leaves one algorithm.
std::optional<token_key> read_material(key_reading& from)
{
    const json::string* const type = from.text("kty");
    if (type == nullptr) {
        from.complain("kty", "missing");
        return std::nullopt;
    }
    if (is(type, "RSA")) {
        return read_rsa(from);
    }
    if (is(type, "EC")) {
        return read_on_curve(from, "P-256");
    }
    if (is(type, "OKP")) {
        return read_on_curve(from, "Ed25519");
    }
    if (is(type, "oct") && from.from == keys_from::url) {
        return from.foreign("a secret that can be fetched is none");
    }
    if (is(type, "oct")) {
        return from.checked(
            token_key::secret(from.bytes("k")), "k", "expected a secret of 32 bytes at least"
        );
    }
    return from.foreign("type " + quoted(*type) + " is not supported");
}

// True if `key_ops` leaves verifying out (RFC 7517 §4.3).
bool cannot_verify(const json::object& members)
{
    const json::value* const operations = members.if_contains("key_ops");
    if (operations == nullptr || !operations->is_array()) {
        return false;
    }
    const json::array& all = operations->get_array();
    return std::none_of(all.begin(), all.end(), [](const json::value& operation) {
        return is(operation.if_string(), "verify");
    });
}

std::optional<token_key> read_key(key_reading& from)
{
    if (const json::string* use = from.text("use"); use != nullptr && !is(use, "sig")) {
        return from.foreign("it is for " + quoted(*use) + ", not for signatures");
    }
    if (cannot_verify(from.members)) {
        return from.foreign("its key_ops do not include \"verify\"");
    }
    const json::string* const name = from.text("alg");
    const auto algorithm =
        name != nullptr ? token_algorithm_of({name->data(), name->size()}) : std::nullopt;
    if (name != nullptr && !algorithm) {
        return from.foreign("algorithm " + quoted(*name) + " is not supported");
    }
    auto key = read_material(from);
    const json::string* const id = from.text("kid");
    if (key && algorithm && *algorithm != key->algorithm()) {
        from.complain("alg", "is not what a key of this type is for");
    }
    if (key && id != nullptr) {
        key->id = std::string{id->data(), id->size()};
    }
    return key;
}

token_keys refused(std::string complaint)
{
    token_keys none;
    none.complaint = std::move(complaint);
    return none;
}

}  // namespace

token_keys parse_token_keys(std::string_view text, keys_from from)
{
    if (text.size() > max_key_set_bytes) {
        return refused("larger than 1MiB");
    }
    const auto set = parse_strict_json(text);
    if (!set) {
        return refused("expected one JSON object, without duplicate names");
    }
    const json::value* const list = set->if_contains("keys");
    if (list == nullptr || !list->is_array()) {
        return refused("expected a JSON Web Key Set: {\"keys\":[…]}");
    }
    const json::array& all = list->get_array();
    if (all.size() > max_token_keys) {
        return refused("keys: more than " + std::to_string(max_token_keys));
    }
    token_keys read;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string path = "keys[" + std::to_string(i) + ']';
        if (!all[i].is_object()) {
            return refused(path + ": expected an object");
        }
        key_reading reading{all[i].get_object(), from};
        auto key = read_key(reading);
        const bool passes = reading.is_foreign || from == keys_from::url;
        if (passes && !reading.complaint.empty()) {
            read.passed_over.push_back(path + reading.complaint);
        } else if (!reading.complaint.empty()) {
            return refused(path + reading.complaint);
        } else if (key) {
            read.keys.push_back(*std::move(key));
        }
    }
    if (read.keys.empty()) {
        read.complaint = "keys: none for HS256, RS256, ES256 or EdDSA signatures";
    }
    return read;
}

}  // namespace gateway::identity
