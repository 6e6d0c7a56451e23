// This file reads a limit's key, which is a list of parts such as "client_ip" and
// "header:x-api-key".
#include "config/keys/key_parts.hpp"

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "gateway/base/text.hpp"
#include "gateway/content/json_paths.hpp"
#include "gateway/http/field.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using source = policy::key_part::source;

constexpr std::size_t longest_part_name = 128;
constexpr const char* expected_part =
    "client_ip, client_ip/BITS, header:NAME, cookie:NAME, query:NAME, "
    "jwt:CLAIM, json:PATH, cert:fingerprint, cert:subject, cert:san, descriptor:KEY, method, host, "
    "path or route";

constexpr words<source, 5> whole_parts{
    {{"client_ip", source::client_ip},
     {"method", source::method},
     {"host", source::host},
     {"path", source::path},
     {"route", source::route}}};

constexpr words<source, 7> named_parts{
    {{"header:", source::header},
     {"cookie:", source::cookie},
     {"query:", source::query},
     {"jwt:", source::jwt},
     {"json:", source::json},
     {"cert:", source::cert},
     {"descriptor:", source::descriptor}}};

// Returns the part for a header. A header that the upstream never gets cannot be part of a key: a
// client could get fresh buckets by values that change nothing. The upstream's Host is the part
// `host`, which an absolute target may overrule (RFC 9112 §3.2.2).
std::optional<policy::key_part> header_part(
    const located& part, const std::string& name, findings& found
)
{
    const http::field_name id = http::classify(name);
    if (id == http::field_name::host) {
        return policy::key_part{.from = source::host, .name = {}};
    }
    if (id == http::field_name::client_cert) {
        found.problem(
            part,
            "what a client says in " + name +
                " never reaches the upstream: write cert:fingerprint, cert:subject or cert:san"
        );
        return std::nullopt;
    }
    if (http::hop_by_hop.contains(id)) {
        found.problem(part, name + " never reaches the upstream");
        return std::nullopt;
    }
    return policy::key_part{.from = source::header, .name = base::lower_case(name)};
}

// Returns the part "client_ip/48", with that number of bits of the address. If `bits` is no number
// from 1 to 128, returns nothing and adds a problem.
std::optional<policy::key_part> prefix_part(
    const located& part, std::string_view bits, findings& found
)
{
    const auto length = parse_number(bits);
    if (!length || *length < 1 || *length > 128) {
        found.problem(part, "expected a prefix length of 1 to 128 bits");
        return std::nullopt;
    }
    return policy::key_part{
        .from = source::client_ip, .name = {}, .prefix = static_cast<int>(*length)};
}

// Returns "header:X-Api-Key" for `header: X-Api-Key`, which is a mapping in YAML, but was meant as
// a text. Otherwise returns nothing.
std::optional<std::string> part_without_space(const node& part)
{
    if (part.entries.size() != 1 || part.entries[0].value.is != node::kind::scalar) {
        return std::nullopt;
    }
    const std::string prefix = part.entries[0].key.text + ':';
    const auto same = [&](const auto& named) { return named.first == prefix; };
    if (std::none_of(named_parts.begin(), named_parts.end(), same)) {
        return std::nullopt;
    }
    const std::string& name = part.entries[0].value.text;
    return is_visible(name, longest_part_name) ? std::optional{prefix + name} : std::nullopt;
}

std::optional<policy::key_part> parse_part(const located& part, findings& found)
{
    if (const auto meant = part_without_space(*part.value)) {
        found.problem(part, "write it without a space: \"" + *meant + '"');
        return std::nullopt;
    }
    const std::string* text = scalar_text(part, expected_part, found);
    if (text == nullptr) {
        return std::nullopt;
    }
    for (const auto& [word, from] : whole_parts) {
        if (*text == word) {
            return policy::key_part{.from = from, .name = {}};
        }
    }
    if (constexpr std::string_view cut = "client_ip/"; text->starts_with(cut)) {
        return prefix_part(part, std::string_view{*text}.substr(cut.size()), found);
    }
    for (const auto& [prefix, from] : named_parts) {
        if (!text->starts_with(prefix)) {
            continue;
        }
        const std::string name = text->substr(prefix.size());
        const bool any_characters = from == source::query || from == source::jwt ||
                                    from == source::descriptor || from == source::json;
        const bool is_known =
            (from != source::cert || name == "fingerprint" || name == "subject" || name == "san") &&
            (from != source::json || content::json_paths::parse(name));
        const bool valid = any_characters ? !name.empty() && is_visible(name, longest_part_name)
                                          : is_token(name, longest_part_name);
        if (!valid || !is_known) {
            found.problem(part, "not a name to follow \"" + std::string{prefix} + "\"");
            return std::nullopt;
        }
        return from == source::header ? header_part(part, name, found)
                                      : policy::key_part{.from = from, .name = name};
    }
    found.problem(part, std::string{"expected "} + expected_part + ", got " + quote(*text));
    return std::nullopt;
}

}  // namespace

std::optional<policy::key_part> load_part(const located& part, findings& found)
{
    auto parsed = parse_part(part, found);
    if (parsed) {
        parsed->text = to_text(*parsed);
    }
    return parsed;
}

std::vector<policy::key_part> load_key(section& from)
{
    std::vector<policy::key_part> key;
    const auto add = [&](const located& item) {
        auto part = load_part(item, from.found());
        if (!part) {
            return;
        }
        const auto same = [&](const policy::key_part& k) {
            return k.from == part->from && k.name == part->name && k.prefix == part->prefix;
        };
        if (std::any_of(key.begin(), key.end(), same)) {
            from.found().problem(item, "this part is in the key already");
        }
        key.push_back(std::move(*part));
    };
    if (from.find("key")->is == node::kind::list) {
        from.each_item("key", policy::max_key_parts, {}, add);
    } else {
        add(from.value("key"));
    }
    return key;
}

void mark_headers_of_trusted_peers(
    const located& at,
    std::span<policy::key_part> parts,
    const identity::client_options& client,
    findings& found
)
{
    const std::string identity = base::lower_case(client.header);
    const bool by_hops = client.trusted_proxies.empty() && client.trusted_hops > 0;
    const bool from_nobody = client.trusted_proxies.empty() && client.trusted_hops == 0;
    for (policy::key_part& part : parts) {
        part.from_trusted_peers =
            part.from == source::header &&
            (http::from_trusted_peers.contains(http::classify(part.name)) || part.name == identity);
        if (part.from_trusted_peers && !by_hops) {
            found.warning(
                at,
                part.name + " is taken from trusted proxies only" +
                    (from_nobody ? ", and client.trusted_proxies names none: it is always absent"
                                 : ": it is absent from a request of any other peer")
            );
        }
    }
}

void require_jwt(
    const located& at, std::span<const policy::key_part> parts, const draft& d, findings& found
)
{
    const bool asks = std::any_of(parts.begin(), parts.end(), [](const policy::key_part& part) {
        return part.from == source::jwt;
    });
    if (asks && !d.policy.token) {
        found.problem(at, "a claim of a token, and there is no \"jwt\" that says which are good");
    }
}

void require_certificates(
    const located& at, std::span<const policy::key_part> parts, const draft& d, findings& found
)
{
    const bool uses = std::any_of(parts.begin(), parts.end(), [](const policy::key_part& part) {
        return part.from == source::cert;
    });
    const auto& listeners = d.result.server.listeners;
    const bool asks = std::any_of(listeners.begin(), listeners.end(), [](const auto& l) {
        return l.tls && l.tls->clients != net::client_certificates::none;
    });
    if (uses && !asks) {
        found.problem(
            at, "a client's certificate, and no listener asks for \"client_certificates\""
        );
    }
}

std::string to_text(const policy::key_part& part)
{
    if (part.prefix != 0) {
        return "client_ip/" + std::to_string(part.prefix);
    }
    const std::size_t named = index_of(part.from, named_parts);
    return named < named_parts.size()
               ? std::string{named_parts[named].first} + part.name
               : std::string{whole_parts[index_of(part.from, whole_parts)].first};
}

}  // namespace gateway::config
