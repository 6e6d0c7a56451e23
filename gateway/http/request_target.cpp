#include "gateway/http/request_target.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/authority.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/method.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

// Splits a target into path and query. Several slashes in front become one, as clients that join
// "/" and "/v1" send them. A server that parses the target as a URI reference would read a host
// behind two slashes, other servers read empty segments.
void split_query(std::string_view origin_form, request_head& out)
{
    while (origin_form.size() > 1 && origin_form[0] == '/' && origin_form[1] == '/') {
        origin_form.remove_prefix(1);
    }
    const std::size_t mark = std::min(origin_form.find('?'), origin_form.size());
    out.path = origin_form.substr(0, mark);
    out.query = origin_form.substr(mark);
}

std::optional<rejection> read_absolute_form(std::string_view after_scheme, request_head& out)
{
    const std::size_t end = std::min(after_scheme.find_first_of("/?"), after_scheme.size());
    out.absolute_form = true;
    out.authority = after_scheme.substr(0, end);
    if (!is_authority(out.authority)) {
        return rejection{400, "the request target names no valid host"};
    }
    split_query(after_scheme.substr(end), out);
    if (out.path.empty()) {
        out.path = out.method == "OPTIONS" && out.query.empty() ? "*" : "/";
    }
    return std::nullopt;
}

}  // namespace

std::optional<rejection> check_method(std::string_view method)
{
    if (!is_token(method)) {
        return rejection{400, "the method is no token"};
    }
    if (method.size() > max_method_bytes) {
        return long_method;
    }
    if (!standard_in_another_case(method).empty()) {
        return rejection{400, method_in_another_case};
    }
    return std::nullopt;
}

bool is_target_text(std::string_view text)
{
    const char* const end = text.data() + text.size();
    return !text.empty() && skip_visible(text.data(), end) == end;
}

std::optional<rejection> read_target(request_head& out)
{
    const std::string_view target = out.target;
    if (target.find('#') != std::string_view::npos) {
        return rejection{400, "the request target has a fragment"};
    }
    if (out.method == "CONNECT") {
        return rejection{501, "CONNECT is not served here"};
    }
    if (target.front() == '/') {
        split_query(target, out);
        return std::nullopt;
    }
    if (target == "*") {
        out.path = target;
        return out.method == "OPTIONS"
                   ? std::nullopt
                   : std::optional{rejection{400, "the target * is for OPTIONS only"}};
    }
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (base::equal_ignoring_case(target.substr(0, scheme.size()), scheme)) {
            return read_absolute_form(target.substr(scheme.size()), out);
        }
    }
    return rejection{400, "the request target is neither a path nor an http or https URI"};
}

}  // namespace gateway::http
