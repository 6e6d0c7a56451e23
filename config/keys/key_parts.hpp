// A limit's key as it is written: a list of parts such as "client_ip" and "header:x-api-key".
#pragma once

#include "config/keys/draft.hpp"
#include "config/text/reader.hpp"
#include "gateway/identity/client_address.hpp"
#include "gateway/policy/policy.hpp"

#include <string>
#include <vector>

namespace gateway::config {

// The parts of `key`, without those that are bad, which is a problem.
std::vector<policy::key_part> load_key(section& limit);

// Claims are those of a token, and what tokens are good only `jwt` says.
void require_jwt(section& from, const std::vector<policy::key_part>& key, const draft& d);

// A certificate is only shown to a listener that asks for it.
void require_certificates(section& from, const std::vector<policy::key_part>& key, const draft& d);

// Marks the headers that the upstream gets from trusted peers only, whether frameworks know them or
// our own client.header is one, and warns of them.
void mark_what_only_trusted_peers_say(
    section& limit, std::vector<policy::key_part>& key, const identity::client_options& client
);

std::string to_text(const policy::key_part& part);

// A part in JSON Schema, which others refer to as "#/$defs/key_part".
inline constexpr std::string_view key_part_schema =
    R"({"type":"string","pattern":"^(client_ip(/([1-9][0-9]?|1[01][0-9]|12[0-8]))?|method|host|path|route|(header|cookie|query|jwt):[!-~]+|cert:(fingerprint|subject|san))$"})";

}  // namespace gateway::config
