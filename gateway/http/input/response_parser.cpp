#include "gateway/http/input/response_parser.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/field_parser.hpp"
#include "gateway/http/input/connection_options.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

using state = parse_result::state;

parse_result refuse(std::string_view detail)
{
    return {state::rejected, {502, detail}};
}

// Reads HTTP-version SP status-code [ SP reason ] CRLF. The second space may be missing (RFC 9112
// §4).
parse_result read_status_line(const char*& p, const char* end, response_head& out)
{
    constexpr std::string_view prefix = "HTTP/1.";
    const std::string_view rest(p, end);
    if (!rest.starts_with(prefix.substr(0, rest.size()))) {
        return refuse("no HTTP/1 status line");
    }
    const char* const line_end = skip_field_text(p, end);
    if (end - line_end < 2) {
        return line_end == end || *line_end == '\r' ? head_incomplete
                                                    : refuse("malformed status line");
    }
    if (line_end[0] != '\r' || line_end[1] != '\n') {
        return refuse("malformed status line");
    }
    const std::string_view line(p, line_end);
    if (line.size() < 12 || (line[7] != '0' && line[7] != '1') || line[8] != ' ') {
        return refuse("malformed status line");
    }
    const auto code = base::parse_decimal(line.substr(9, 3), 999);
    if (!code || *code < 100 || (line.size() > 12 && line[12] != ' ')) {
        return refuse("the status code is not three digits");
    }
    out.start_line = {p, line_end + 2};
    if (line[7] == '0') {
        out.version = http_version::http_1_0;
    }
    out.status = static_cast<int>(*code);
    out.reason = line.size() > 13 ? line.substr(13) : std::string_view{};
    p = line_end + 2;
    return head_complete;
}

bool has_no_body(int status, bool answers_head)
{
    return answers_head || status < 200 || status == 204 || status == 304;
}

// Reads the framing by the rules of RFC 9112 §6.3, without its leniency.
parse_result read_framing(bool answers_head, response_head& out)
{
    connection_options connection;
    int lengths = 0;
    int codings = 0;
    bool chunked = false;
    for (const field& f : out.fields) {
        if (f.id == field_name::content_length) {
            ++lengths;
            if (!read_content_length(f, out.body.length, out.respelt_length)) {
                return refuse("Content-Length is no decimal number");
            }
        } else if (f.id == field_name::transfer_encoding) {
            ++codings;
            chunked = base::equal_ignoring_case(f.value, "chunked");
        } else if (f.id == field_name::connection && !connection.read(f.value)) {
            return refuse("Connection is no list of tokens");
        }
    }
    if (lengths > 1 || codings > 1 ||
        (codings == 1 && (lengths == 1 || !chunked || out.is_1_0()))) {
        return refuse("ambiguous or unknown framing");
    }
    out.keep_alive = connection.keeps_alive(out.version);
    connection.mark_nominated(out.fields);
    out.nominates_trailers = connection.nominates_trailers();
    out.has_date = std::any_of(out.fields.begin(), out.fields.end(), [](const field& f) {
        return f.id == field_name::date && !f.nominated;
    });
    const bool promises_content = chunked || out.body.length != 0;
    if (promises_content && out.status < 200) {
        return refuse("an interim response with content");
    }
    if (has_no_body(out.status, answers_head)) {
        // Without a length, the answer to a GET would have lasted until the end of the connection.
        const bool has_no_length = lengths == 0 && !has_no_body(out.status, false);
        out.content_may_follow = promises_content || has_no_length;
        out.body = {};
    } else if (chunked) {
        out.body.how = framing::kind::chunked;
    } else {
        out.body.how = lengths == 1 ? framing::kind::length : framing::kind::until_close;
    }
    return head_complete;
}

}  // namespace

parse_result parse_response_head(
    std::string_view bytes, bool answers_head, const response_bounds& bounds, response_head& out
)
{
    out.clear();
    const bool full = bytes.size() >= bounds.max_header_bytes;
    bytes = bytes.substr(0, bounds.max_header_bytes);
    const char* p = bytes.data();
    auto r = read_status_line(p, bytes.data() + bytes.size(), out);
    if (r.is == state::complete) {
        out.size = static_cast<std::size_t>(p - bytes.data());
        switch (read_fields(bytes, out.size, bounds.max_headers, out.fields)) {
            case progress::incomplete:
                r = head_incomplete;
                break;
            case progress::malformed:
                return refuse("a header line is malformed");
            case progress::too_many:
                return refuse("too many header fields");
            case progress::complete:
                r = read_framing(answers_head, out);
                break;
        }
    }
    return full && r.is == state::incomplete ? refuse("the header is too long") : r;
}

}  // namespace gateway::http
