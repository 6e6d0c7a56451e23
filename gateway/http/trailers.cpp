#include "gateway/http/trailers.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>
#include <array>

namespace gateway::http {

namespace {

using namespace std::string_view_literals;

// Names that never pass, beside those that classify() knows.
constexpr std::array forbidden_names{
    // The form of the content.
    "content-disposition"sv,
    "content-encoding"sv,
    "content-language"sv,
    "content-location"sv,
    "content-range"sv,
    "content-type"sv,
    // Request modifiers. Conditions are below.
    "origin"sv,
    "pragma"sv,
    "range"sv,
    "x-http-method"sv,
    "x-http-method-override"sv,
    "x-method-override"sv,
    // Control of responses and of caches.
    "age"sv,
    "cache-control"sv,
    "expires"sv,
    "location"sv,
    "refresh"sv,
    "retry-after"sv,
    "vary"sv,
    "warning"sv,
    // Credentials.
    "api-key"sv,
    "apikey"sv,
    "authorization"sv,
    "cookie2"sv,
    "set-cookie"sv,
    "set-cookie2"sv,
    "www-authenticate"sv,
    "x-access-token"sv,
    "x-api-key"sv,
    "x-auth-token"sv,
    "x-csrf-token"sv,
    "x-xsrf-token"sv,
    // Names of the client.
    "cf-connecting-ip"sv,
    "fastly-client-ip"sv,
    "true-client-ip"sv,
    "x-client-ip"sv,
    "x-cluster-client-ip"sv,
    // Limits.
    "ratelimit"sv,
    "ratelimit-policy"sv,
};

// Beginnings of further names that never pass.
constexpr std::array forbidden_beginnings{
    "access-control-"sv,
    "if-"sv,
    "proxy-"sv,
    "sec-"sv,
    "x-ratelimit-"sv,
};

bool is_forbidden(std::string_view name)
{
    const auto is_it = [name](std::string_view known) { return reads_as(name, known); };
    const auto begins = [name](std::string_view beginning) {
        return reads_as(name.substr(0, beginning.size()), beginning);
    };
    return std::any_of(forbidden_names.begin(), forbidden_names.end(), is_it) ||
           std::any_of(forbidden_beginnings.begin(), forbidden_beginnings.end(), begins);
}

}  // namespace

bool is_forwardable_trailer(std::string_view name)
{
    return classify(name) == field_name::other && !is_forbidden(name);
}

void append_trailer(const field& trailer, std::string& out)
{
    out.append(trailer.name).append(": "sv).append(trailer.value).append("\r\n"sv);
}

void append_forwardable_trailers(std::string_view section, std::string& out)
{
    append_forwardable_trailers(
        section, [](std::string_view) { return false; }, out
    );
}

void append_announced_trailers(std::span<const field> fields, std::string& out)
{
    const std::size_t before = out.size();
    for (const field& f : fields) {
        if (f.id != field_name::trailer || f.nominated) {
            continue;
        }
        base::for_each_element(f.value, ',', [&](std::string_view name) {
            if (is_token(name) && is_forwardable_trailer(name)) {
                out.append(out.size() == before ? "Trailer: "sv : ", "sv).append(name);
            }
        });
    }
    if (out.size() != before) {
        out.append("\r\n"sv);
    }
}

}  // namespace gateway::http
