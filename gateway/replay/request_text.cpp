#include "gateway/replay/request_text.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/http/input/request_parser.hpp"

#include <algorithm>

namespace gateway::replay {

namespace {

bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
}

// Appends the text as it stands in a query, so that it reads as these bytes.
void append_encoded(std::string& to, std::string_view text)
{
    constexpr std::string_view hex = "0123456789ABCDEF";
    for (const char c : text) {
        if (is_plain(c)) {
            to += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            to += '%';
            to += hex[byte >> 4];
            to += hex[byte & 15];
        }
    }
}

bool stays_in_line(std::string_view value)
{
    return std::none_of(value.begin(), value.end(), [](char c) {
        return base::is_control(c) && c != '\t';
    });
}

bool has_control(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), base::is_control);
}

}  // namespace

request_text::request_text(
    const policy::policy& p, const http::options& bounds, const wanted_parts& wanted
)
    : bounds_(bounds),
      wanted_(wanted),
      client_header_(wanted.set_of({.from = source::header, .name = p.client.header}))
{}

void request_text::add_field(std::string_view name, std::string_view value)
{
    if (stays_in_line(value)) {
        fields_.append(name).append(": ").append(value).append("\r\n");
    }
}

void request_text::add_part(const policy::key_part& part, std::string_view value)
{
    switch (part.from) {
        case source::header:
            add_field(part.name, value);
            break;
        case source::cookie:
            fields_.append("Cookie: ").append(part.name).append("=");
            append_encoded(fields_, value);
            fields_.append("\r\n");
            break;
        case source::query:
            query_ += query_.empty() ? '?' : '&';
            append_encoded(query_, part.name);
            query_ += '=';
            append_encoded(query_, value);
            break;
        default:
            break;
    }
}

// A log whose client is no peer has found the client already.
void request_text::add_parts(const logged_request& r)
{
    for (const part_text& p : r.parts) {
        if (r.client_is_peer || (bit(p.part) & client_header_) == 0) {
            add_part(wanted_.all()[p.part], p.text);
        }
    }
}

// Adds the headers by which the route matches, unless the log tells of them.
void request_text::add_headers_of(const policy::route& named, part_set known)
{
    for (const policy::header_match& m : named.match.headers) {
        if ((wanted_.set_of({.from = source::header, .name = m.name}) & known) == 0) {
            add_field(m.name, m.value);
        }
    }
}

// A log may hold bytes that no client can send there, such as the end of a line, behind which
// fields of its own would follow.
const http::request_head* request_text::head_of(const logged_request& r, const policy::route* named)
{
    if (has_control(r.method) || has_control(r.target) || has_control(r.host)) {
        return nullptr;
    }
    const std::size_t mark = r.target.find('?');
    query_ = mark == r.target.npos ? std::string_view{} : r.target.substr(mark);
    fields_.clear();
    add_parts(r);
    if (named != nullptr) {
        add_headers_of(*named, r.known);
    }
    const bool names_no_host = r.host.empty() && (r.known & wanted_.all_from(source::host)) != 0;
    text_.assign(r.method).append(" ").append(r.target.substr(0, mark)).append(query_);
    if (names_no_host) {
        text_.append(" HTTP/1.0\r\n");
    } else {
        text_.append(" HTTP/1.1\r\nHost: ").append(r.host.empty() ? "localhost" : r.host);
        text_.append("\r\n");
    }
    text_.append(fields_).append("\r\n");
    const http::parse_result parsed = http::parse_request_head(text_, bounds_, head_);
    return parsed.is == http::parse_result::state::complete ? &head_ : nullptr;
}

}  // namespace gateway::replay
