// `read_stated_value` reads the value of a key's part as an operator states it: a member of a plan,
// or a part of a key in a call of the admin API. It is read like the same text in a request, so
// both have one form.
#pragma once

#include "gateway/http/part_value.hpp"
#include "gateway/policy/limit_rule.hpp"

#include <string>
#include <string_view>

namespace gateway::policy {

// Sets `out` to the form in which a request's value is compared. Returns why no request has such a
// value, in a clause for people, or an empty text if one may. The text is not repeated, because
// values may be secrets.
//
//   header         as a line of it; Authorization as credentials
//   cookie, query  as the client writes it, or decoded: percent-encodings are decoded, '+' is a
//                  space
//   cert           a fingerprint in hexadecimal, with colons or without
//   method, host, path   refused here if it is refused in a request
//
// Requires: part.from is not client_ip, whose values are addresses.
[[nodiscard]] std::string read_stated_value(
    const key_part& part, std::string_view text, http::part_value& out
);

}  // namespace gateway::policy
