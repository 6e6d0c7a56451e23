// Request targets and methods (RFC 9112 §3.1, §3.2). There is one check of each, whoever carries
// them: a request line, another proxy's header that names the original request, or an operator.
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

// Returns why the method is refused: no token, too long, or a standard one in another letter case.
[[nodiscard]] std::optional<rejection> check_method(std::string_view method);

// True if every byte is one that may stand in a target, 0x21 to 0x7e, and there is one.
[[nodiscard]] bool is_target_text(std::string_view text);

// Reads `out.target` for `out.method`: sets path, query, and authority and absolute_form of an
// absolute-form target. Returns why it is refused. Requires: is_target_text(out.target).
[[nodiscard]] std::optional<rejection> read_target(request_head& out);

}  // namespace gateway::http
