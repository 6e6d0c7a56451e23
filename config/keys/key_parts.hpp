// `load_key` reads a limit's key as it is written: a list of parts such as "client_ip" and
// "header:x-api-key".
#pragma once

#include "config/keys/draft.hpp"
#include "config/text/reader.hpp"
#include "gateway/identity/client_address.hpp"
#include "gateway/policy/policy.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gateway::config {

// Returns a part. If the text is none, returns nothing and adds a problem.
std::optional<policy::key_part> load_part(const located& part, findings& found);

// Returns the parts of `key`, without bad ones, which are problems.
std::vector<policy::key_part> load_key(section& limit);

// Complains if the parts have a claim and there is no section `jwt`, which says which tokens are
// good. `at` is where the parts are written.
void require_jwt(
    const located& at, std::span<const policy::key_part> parts, const draft& d, findings& found
);

// Complains if there is a part of a certificate and no listener asks for certificates, as clients
// show them to no other.
void require_certificates(
    const located& at, std::span<const policy::key_part> parts, const draft& d, findings& found
);

// Marks the headers that the upstream gets from trusted peers only: those that frameworks know, and
// client.header. Warns of them, unless client.trusted_hops makes every peer a trusted one.
void mark_headers_of_trusted_peers(
    const located& at,
    std::span<policy::key_part> parts,
    const identity::client_options& client,
    findings& found
);

std::string to_text(const policy::key_part& part);

// JSON Schema of a part, to which other schemas refer as "#/$defs/key_part".
inline constexpr std::string_view key_part_schema =
    R"({"type":"string","pattern":"^(client_ip(/([1-9][0-9]?|1[01][0-9]|12[0-8]))?|method|host|path|route|(header|cookie|query|jwt|json|descriptor):[!-~]+|cert:(fingerprint|subject|san))$"})";

}  // namespace gateway::config
