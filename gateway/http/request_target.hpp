// `check_method` and `read_target` check request methods and targets (RFC 9112 §3.1, §3.2),
// wherever they come from: a request line, another proxy's header that names the original
// request, or an operator.
#pragma once

#include "gateway/http/message.hpp"

#include <optional>
#include <string_view>

namespace gateway::http {

// Most bytes of a method; the longest registered one has 17.
inline constexpr std::size_t max_method_bytes = 32;

inline constexpr rejection long_method{501, "the method is longer than any that is known"};
inline constexpr rejection bad_target_text{
    400, "the request target is empty or has a byte that must be percent-encoded"};

// Returns why the method is refused, or nothing: it is no token, too long, or a standard one in
// another letter case.
[[nodiscard]] std::optional<rejection> check_method(std::string_view method);

// True if the text is not empty and has only bytes that may stand in a target, 0x21 to 0x7e.
[[nodiscard]] bool is_target_text(std::string_view text);

// Reads `out.target` for `out.method`: sets path and query, and of an absolute-form target also
// authority and absolute_form. Returns why it is refused, or nothing.
// Requires: is_target_text(out.target).
[[nodiscard]] std::optional<rejection> read_target(request_head& out);

}  // namespace gateway::http
