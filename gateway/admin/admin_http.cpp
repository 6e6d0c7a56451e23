#include "gateway/admin/admin_http.hpp"

#include "gateway/admin/accepted.hpp"
#include "gateway/admin/gzip.hpp"
#include "gateway/admin/json_text.hpp"
#include "gateway/http/http_date.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace gateway::admin {

namespace {

std::string_view as_view(beast::string_view text)
{
    return {text.data(), text.size()};
}

// `target_parts` splits a target in two. A whole URL is accepted, too (RFC 9112 §3.2.2).
struct target_parts {
    // Empty if the target is a path.
    std::string_view authority;
    std::string_view origin_form;
};

target_parts parts_of(const admin_request& asked)
{
    const std::string_view target = as_view(asked.target());
    const std::size_t scheme = target.starts_with('/') ? target.npos : target.find("://");
    if (scheme == target.npos) {
        return {{}, target};
    }
    const std::string_view rest = target.substr(scheme + 3);
    const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
    return {rest.substr(0, path), path == rest.size() ? "/" : rest.substr(path)};
}

template <typename Range>
std::string_view only_one(const Range& found)
{
    const auto& [first, end] = found;
    return first == end || std::next(first) != end ? std::string_view{} : as_view(first->value());
}

}  // namespace

probes::control_response reply(beast::http::status code, std::string_view type, std::string body)
{
    using beast::http::field;
    probes::control_response r(code, 11);
    r.set(field::content_type, beast::string_view(type.data(), type.size()));
    r.set(field::cache_control, "no-store");
    const http::http_date date(base::unix_time());
    r.set(field::date, {date.text().data(), date.text().size()});
    r.body() = std::move(body);
    return r;
}

probes::control_response compressed_for(const admin_request& asked, probes::control_response r)
{
    using beast::http::field;
    r.set(field::vary, "Accept-Encoding");
    if (accepts_gzip(only_field(asked, field::accept_encoding))) {
        r.set(field::content_encoding, "gzip");
        r.body() = gzipped(r.body());
    }
    return r;
}

probes::control_response reply(const boost::json::value& body)
{
    return reply(beast::http::status::ok, "application/json", json_text(body) + "\n");
}

probes::control_response problem(beast::http::status code, std::string_view detail)
{
    const boost::json::value body{
        {"type", "about:blank"},
        {"title", as_view(beast::http::obsolete_reason(code))},
        {"status", static_cast<unsigned>(code)},
        {"detail", detail},
    };
    return reply(code, "application/problem+json", boost::json::serialize(body) + "\n");
}

std::string_view path_of(const admin_request& asked)
{
    const std::string_view target = parts_of(asked).origin_form;
    return target.substr(0, target.find('?'));
}

std::string_view query_of(const admin_request& asked)
{
    const std::string_view target = parts_of(asked).origin_form;
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
}

std::string_view host_of(const admin_request& asked)
{
    const std::string_view authority = parts_of(asked).authority;
    return authority.empty() ? only_field(asked, beast::http::field::host) : authority;
}

std::string_view only_field(const admin_request& asked, beast::http::field name)
{
    return only_one(asked.equal_range(name));
}

std::string_view only_field(const admin_request& asked, std::string_view name)
{
    return only_one(asked.equal_range(beast::string_view(name.data(), name.size())));
}

}  // namespace gateway::admin
