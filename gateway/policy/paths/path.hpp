// `normalise_path` gives a path one spelling, for matching and for keys. The path that is forwarded
// stays as it was received. A server may decode, strip and merge in any of the usual ways: whatever
// it would serve as /login must be matched as /login here, or another spelling would evade a limit.
// A path is refused if the usual ways lead to different places, where no honest client goes.
#pragma once

#include <string>
#include <string_view>

namespace gateway::policy {

struct normalised_path {
    std::string_view path{};
    // The reason why the path is refused, as a clause for its sender. Empty: it is not refused.
    std::string_view refused_because{};
};

// Normalizes the path of a request target, without its query. The result begins with '/', has no
// empty, "." or ".." segment, and is its own normal form:
//   - percent-encodings are decoded once; %2F and %5C become separators; %25, %23 and %3F stay
//     encoded, so that a doubly encoded path is not read as if it were encoded once;
//   - parameters (";x=1", also "%3Bx=1") of segments are dropped;
//   - empty and "." segments are dropped; a trailing '/' is kept;
//   - bytes above 0x7f and the case of letters are kept (fold_case() in path_case.hpp).
// Paths are refused if servers disagree about what they mean:
//   - a malformed percent-encoding; a control byte, raw or encoded; a raw '\', '?' or '#';
//   - an overlong UTF-8 sequence, such as "%C0%AF", which lenient decoders read as a slash;
//   - a ".." segment: clients resolve it before they send, servers before or after they choose a
//     handler, or never;
//   - an encoded separator inside a parameter ("/api;a=%2Fb/login"): some servers drop parameters
//     before they decode (/api/login), some decode first (/api;a=/b/login);
//   - a "." segment with parameters ("/a/.;x/b"), or beside an encoded separator ("/a/.%2Fb"):
//     some servers see an ordinary segment there.
// The result is `path` if that is its own normal form. Otherwise it lies in `room`, whose contents
// are replaced. It is never longer than `path`. A path that does not begin with '/' is refused,
// too. A refused path is answered with 400.
normalised_path normalise_path(std::string_view path, std::string& room);

// Returns the path without the '/' at its end; "/" stays. Most servers read both as one path.
std::string_view without_final_slash(std::string_view normalised);

// Normalizes a host for matching and keys: lower case, without port and trailing dot. An IPv6
// literal keeps its brackets, and has one spelling (RFC 5952).
// Requires: `host` is well-formed (uri-host [":" port]).
void normalise_host(std::string_view host, std::string& out);

}  // namespace gateway::policy
