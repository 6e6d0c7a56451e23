#include "gateway/http/forward_response.hpp"

namespace gateway::http {

namespace {

using namespace std::string_view_literals;

bool is_forwarded(const field& f, const response_head& head, bool replace_ratelimit)
{
    if (hop_by_hop.contains(f.id) || (f.id == field_name::x_ratelimit && replace_ratelimit)) {
        return false;
    }
    if (f.id == field_name::content_length) {
        return head.status >= 200 && head.status != 204;  // RFC 9110 §8.6
    }
    return head.connection.nominated.empty() || !head.connection.nominates(f.name);
}

void append_own_start(const response_head& head, std::string& out)
{
    const char code[3] = {
        static_cast<char>('0' + head.status / 100),
        static_cast<char>('0' + head.status / 10 % 10),
        static_cast<char>('0' + head.status % 10),
    };
    out.append("HTTP/1.1 "sv).append(code, 3).append(" "sv).append(head.reason).append("\r\n"sv);
}

void append_what_stays(const response_head& head, bool replace_ratelimit, std::string& out)
{
    std::string_view start;
    if (!head.http_1_0 && !head.reason.empty()) {  // without one the space before it may lack
        start = head.start_line;
    } else {
        append_own_start(head, out);
    }
    const auto stays = [&](const field& f) { return is_forwarded(f, head, replace_ratelimit); };
    append_lines(start, head.fields, stays, out);
}

}  // namespace

framing outbound_framing(const response_head& head, bool client_http_1_0)
{
    const bool unbounded =
        head.body.how == framing::kind::chunked || head.body.how == framing::kind::until_close;
    if (!unbounded) {
        return head.body;
    }
    return {client_http_1_0 ? framing::kind::until_close : framing::kind::chunked, 0};
}

void append_forwarded_response(
    const response_head& head, const response_options& options, std::string& out
)
{
    append_what_stays(head, !options.limits.empty(), out);
    if (!head.has_date) {
        out.append(options.date);
    }
    append_limit_headers(options.limits, out);
    if (outbound_framing(head, options.client_http_1_0).how == framing::kind::chunked) {
        out.append("Transfer-Encoding: chunked\r\n"sv);
    }
    if (head.status == 101) {
        out.append("Connection: upgrade\r\nUpgrade: websocket\r\n"sv);
    } else if (options.close) {
        out.append("Connection: close\r\n"sv);
    } else if (options.client_http_1_0 && options.client_keep_alive) {
        out.append("Connection: keep-alive\r\n"sv);
    }
    out.append("\r\n"sv);
}

void append_interim_response(const response_head& head, bool replace_ratelimit, std::string& out)
{
    append_what_stays(head, replace_ratelimit, out);
    out.append("\r\n"sv);
}

}  // namespace gateway::http
