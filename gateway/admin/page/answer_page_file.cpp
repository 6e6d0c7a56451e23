#include "gateway/admin/accepted.hpp"
#include "gateway/admin/gzip.hpp"
#include "gateway/admin/page/page_file.hpp"

#include <map>
#include <string>

namespace gateway::admin {

namespace {

constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

// Returns the file compressed, which is done once.
const std::string& compressed(const page_file& file)
{
    static std::map<std::string_view, std::string> all;
    std::string& text = all[file.path];
    if (text.empty()) {
        text = gzipped(file.text);
    }
    return text;
}

void set(probes::control_response& r, std::string_view name, std::string_view value)
{
    r.set(
        beast::string_view(name.data(), name.size()), beast::string_view(value.data(), value.size())
    );
}

}  // namespace

probes::control_response answer_page_file(const admin_request& asked, const page_file& file)
{
    using beast::http::field;
    const bool coded = accepts_gzip(only_field(asked, field::accept_encoding));
    probes::control_response r = reply(
        beast::http::status::ok, file.type, coded ? compressed(file) : std::string{file.text}
    );
    r.set(field::vary, "Accept-Encoding");
    if (coded) {
        r.set(field::content_encoding, "gzip");
    }
    set(r, "Content-Security-Policy", content_policy);
    set(r, "X-Content-Type-Options", "nosniff");
    set(r, "X-Frame-Options", "DENY");
    set(r, "Referrer-Policy", "no-referrer");
    set(r, "Cross-Origin-Opener-Policy", "same-origin");
    set(r, "Cross-Origin-Resource-Policy", "same-origin");
    return r;
}

}  // namespace gateway::admin
