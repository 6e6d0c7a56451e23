#include "gateway/http/input/request_parser.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/authority.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/field_parser.hpp"
#include "gateway/http/grpc/grpc.hpp"
#include "gateway/http/input/connection_options.hpp"
#include "gateway/http/input/websocket.hpp"
#include "gateway/http/request_target.hpp"
#include "gateway/http/trace_parent.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

using state = parse_result::state;

parse_result refuse(int status, std::string_view detail)
{
    return {state::rejected, {status, detail}};
}

// Reads "HTTP/1.1" or "HTTP/1.0" and CRLF. On success `p` stands behind them.
parse_result read_version(const char*& p, const char* end, request_head& out)
{
    constexpr std::string_view expected = "HTTP/1.1\r\n";
    const std::string_view rest = std::string_view(p, end).substr(0, expected.size());
    if (rest == expected) {
        p += expected.size();
        return head_complete;
    }
    if (!rest.starts_with(expected.substr(0, std::min<std::size_t>(rest.size(), 5)))) {
        return refuse(400, "the request line has no valid HTTP version");
    }
    if (rest.size() < expected.size()) {
        const bool may_continue = rest.find('\n') == std::string_view::npos;
        return may_continue ? head_incomplete
                            : refuse(400, "the request line has no valid HTTP version");
    }
    if (!is_digit(rest[5]) || rest[6] != '.' || !is_digit(rest[7])) {
        return refuse(400, "the request line has no valid HTTP version");
    }
    if (!rest.ends_with("\r\n")) {
        return refuse(400, "the request line does not end after the HTTP version");
    }
    if (rest[5] != '1' || rest[7] > '1') {
        return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    if (rest[7] == '0') {
        out.version = http_version::http_1_0;
    }
    p += expected.size();
    return head_complete;
}

parse_result read_request_line(const char*& p, const char* end, request_head& out)
{
    // The bit that is set in every lower-case letter and in no capital.
    constexpr int lower_case_bit = 0x20;
    int bits = 0;
    const char* q = p;
    while (q != end && is_token_char(*q) && q - p < static_cast<std::ptrdiff_t>(max_method_bytes)) {
        bits |= *q;
        ++q;
    }
    if (q == end) {
        return head_incomplete;
    }
    if (is_token_char(*q)) {
        return {state::rejected, long_method};
    }
    if (*q != ' ' || q == p) {
        return refuse(400, "the request line has no valid method");
    }
    out.method = {p, q};
    if ((bits & lower_case_bit) != 0) {
        if (const auto why = check_method(out.method)) {
            return {state::rejected, *why};
        }
    }
    p = q + 1;
    q = skip_visible(p, end);
    if (q == end) {
        return head_incomplete;
    }
    if (*q != ' ' || q == p) {
        return {state::rejected, bad_target_text};
    }
    out.target = {p, q};
    p = q + 1;
    return read_version(p, end, out);
}

// Findings about the fields of interest, gathered in one pass.
struct survey {
    int hosts = 0;
    int lengths = 0;
    int codings = 0;
    int hop_counts = 0;
    int traces = 0;
    int grpc_timeouts = 0;
    bool upgrade = false;
    connection_options connection;
    std::string_view host;
    std::string_view coding;
    std::string_view hop_count;
};

// True if a TE field has the element `trailers`.
bool names_trailers(std::string_view value)
{
    bool found = false;
    base::for_each_element(value, ',', [&found](std::string_view coding) {
        found = found || base::equal_ignoring_case(coding, "trailers");
    });
    return found;
}

// Length of both names that gRPC has for requests.
constexpr std::size_t grpc_name_size = std::string_view("grpc-timeout").size();
static_assert(std::string_view("content-type").size() == grpc_name_size);

// Reads a field whose name is as long as those of gRPC. A timeout that is there twice is none.
void read_grpc_field(const field& f, survey& seen, request_head& out)
{
    if (base::equal_ignoring_case(f.name, "content-type")) {
        out.grpc = out.grpc || is_grpc_type(f.value);
    } else if (base::equal_ignoring_case(f.name, "grpc-timeout")) {
        out.grpc_timeout = ++seen.grpc_timeouts == 1 ? f.value : std::string_view{};
    }
}

parse_result read_field(const field& f, survey& seen, request_head& out)
{
    switch (f.id) {
        case field_name::host:
            ++seen.hosts;
            seen.host = f.value;
            break;
        case field_name::content_length:
            ++seen.lengths;
            if (!read_content_length(f, out.body.length, out.respelt_length)) {
                return refuse(400, "Content-Length is no decimal number");
            }
            break;
        case field_name::transfer_encoding:
            ++seen.codings;
            seen.coding = f.value;
            break;
        case field_name::connection:
            if (!seen.connection.read(f.value)) {
                return refuse(400, "Connection is no list of at most 32 tokens");
            }
            break;
        case field_name::upgrade:
            seen.upgrade = true;
            break;
        case field_name::expect:
            if (!out.is_1_0() && !is_empty_list(f.value)) {
                if (!base::equal_ignoring_case(f.value, "100-continue")) {
                    return refuse(417, "only the expectation 100-continue can be met");
                }
                out.expects_continue = true;
            }
            break;
        case field_name::max_forwards:
            ++seen.hop_counts;
            seen.hop_count = f.value;
            break;
        case field_name::traceparent:
            ++seen.traces;
            out.malformed_trace = seen.traces > 1 || !is_trace_parent(f.value);
            out.trace_parent = out.malformed_trace ? std::string_view{} : f.value;
            break;
        case field_name::te:
            out.accepts_trailers =
                out.accepts_trailers || (!out.is_1_0() && names_trailers(f.value));
            break;
        case field_name::via:
            out.has_via = true;
            break;
        case field_name::forwarded:
        case field_name::x_forwarded_for:
        case field_name::x_real_ip:
            out.names_client = true;
            break;
        case field_name::other:
            if (f.name.size() == grpc_name_size) {
                read_grpc_field(f, seen, out);
            }
            break;
        default:
            break;
    }
    return head_complete;
}

parse_result check_host(const survey& seen, request_head& out)
{
    if (seen.hosts > 1 || (seen.hosts == 0 && !out.is_1_0())) {
        return refuse(400, "a request has exactly one Host field");
    }
    if (seen.hosts == 1 && !is_authority(seen.host)) {
        return refuse(400, "Host is not a host with an optional port");
    }
    if (!out.absolute_form) {
        out.authority = seen.host;
    }
    return head_complete;
}

parse_result check_framing(const survey& seen, request_head& out)
{
    if (seen.codings > 0) {
        const bool chunked = seen.codings == 1 && base::equal_ignoring_case(seen.coding, "chunked");
        if (seen.lengths > 0 || out.is_1_0()) {
            return refuse(400, "Transfer-Encoding beside Content-Length, or in HTTP/1.0");
        }
        if (!chunked) {
            const bool unknown = seen.codings == 1 && is_token(seen.coding);
            return refuse(unknown ? 501 : 400, "the only transfer coding understood is: chunked");
        }
        out.body.how = framing::kind::chunked;
        return head_complete;
    }
    if (seen.lengths > 1) {
        return refuse(400, "more than one Content-Length");
    }
    if (seen.lengths == 1) {
        out.body.how = framing::kind::length;
    }
    return head_complete;
}

// Checks TRACE and OPTIONS (RFC 9110 §7.6.2, §9.3.8). A server that does not look for content in a
// TRACE would read it as the next request.
parse_result check_trace_and_options(const survey& seen, request_head& out)
{
    const bool trace = out.method == "TRACE";
    if (trace && (out.body.how == framing::kind::chunked || out.body.length != 0)) {
        return refuse(400, "a TRACE request has no content");
    }
    if (seen.hop_counts == 0 || (!trace && out.method != "OPTIONS")) {
        return head_complete;
    }
    constexpr std::uint64_t most = 1'000'000;  // No larger number is forwarded.
    const std::string_view digits = seen.hop_count;
    if (seen.hop_counts > 1 || digits.empty() ||
        !std::all_of(digits.begin(), digits.end(), is_digit)) {
        return refuse(400, "Max-Forwards is no decimal number");
    }
    out.max_forwards = base::parse_decimal(digits, most).value_or(most);
    return head_complete;
}

parse_result check_fields(request_head& out)
{
    survey seen;
    for (const field& f : out.fields) {
        if (const auto r = read_field(f, seen, out); r.is != state::complete) {
            return r;
        }
    }
    if (const auto r = check_host(seen, out); r.is != state::complete) {
        return r;
    }
    if (const auto r = check_framing(seen, out); r.is != state::complete) {
        return r;
    }
    out.keep_alive = seen.connection.keeps_alive(out.version);
    seen.connection.mark_nominated(out.fields);
    out.nominates_trailers = seen.connection.nominates_trailers();
    out.websocket = seen.upgrade && asks_for_websocket(out);
    return check_trace_and_options(seen, out);
}

// Looks for the media type of gRPC among the fields of a refused head.
void read_grpc_fields(request_head& out)
{
    survey seen;
    for (const field& f : out.fields) {
        if (f.name.size() == grpc_name_size) {
            read_grpc_field(f, seen, out);
        }
    }
}

parse_result too_long(std::string_view bytes, const options& limits)
{
    const bool in_first_line =
        bytes.substr(0, limits.max_header_bytes).find('\n', 2) == std::string_view::npos;
    return {state::rejected, in_first_line ? long_request_line : long_header};
}

parse_result read_head(std::string_view bytes, const options& limits, request_head& out)
{
    if (bytes == "\r") {
        return head_incomplete;
    }
    const char* p =
        bytes.data() + (bytes.starts_with("\r\n") ? 2 : 0);  // RFC 9112 §2.2: one is ignored.
    if (const auto r = read_request_line(p, bytes.data() + bytes.size(), out);
        r.is != state::complete) {
        return r;
    }
    if (const auto why = read_target(out)) {
        return {state::rejected, *why};
    }
    out.size = static_cast<std::size_t>(p - bytes.data());
    switch (read_fields(bytes, out.size, limits.max_headers, out.fields)) {
        case progress::incomplete:
            return head_incomplete;
        case progress::malformed:
            return refuse(400, "a header line is malformed");
        case progress::too_many:
            return {state::rejected, too_many_fields};
        case progress::complete:
            break;
    }
    return check_fields(out);
}

}  // namespace

parse_result parse_request_head(std::string_view bytes, const options& limits, request_head& out)
{
    out.clear();
    const parse_result r = read_head(bytes.substr(0, limits.max_header_bytes), limits, out);
    if (r.is == state::incomplete && bytes.size() < limits.max_header_bytes) {
        return r;
    }
    if (r.is != state::complete) {
        read_grpc_fields(out);
    }
    return r.is == state::incomplete ? too_long(bytes, limits) : r;
}

}  // namespace gateway::http
