// The value of a key's part as an operator states it: a member of a plan, or a part of a key in a
// call of the admin API. It is read as the same text in a request is, so both have one form.
#pragma once

#include "gateway/http/part_value.hpp"
#include "gateway/policy/limit_rule.hpp"

#include <string>
#include <string_view>

namespace gateway::policy {

// Sets `out` to the form in which a request's value is compared. Returns why no request has such a
// value, in a clause for people; empty: one may. Values may be secrets: the text is not repeated.
//
//   header         as a line of it; Authorization as credentials
//   cookie, query  as the client writes it, or decoded: percent-encodings are decoded, '+' is a
//                  space
//   cert           a fingerprint in hexadecimal, with colons or without
//   method, host, path   what is refused in a request is refused here
//
// Requires: part.from is not client_ip, whose values are addresses.
[[nodiscard]] std::string read_stated_value(
    const key_part& part, std::string_view text, http::part_value& out
);

}  // namespace gateway::policy
