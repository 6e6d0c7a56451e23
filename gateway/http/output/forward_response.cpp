#include "gateway/http/output/forward_response.hpp"

#include "gateway/http/field_parser.hpp"
#include "gateway/http/trailers.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

using namespace std::string_view_literals;

// This status must name in Upgrade what to upgrade to (RFC 9110 §15.5.22).
constexpr int upgrade_required = 426;

bool forwards_length(const response_head& head)
{
    return head.status >= 200 && head.status != 204;  // RFC 9110 §8.6.
}

// Fields that are left out, beside those that always are.
struct taken_out {
    // The usual X-RateLimit fields.
    bool ratelimit = false;
    // Other fields about limits; null: none.
    const limit_statement* limits = nullptr;
    const field_edits* edits = nullptr;

    explicit taken_out(const added_fields& added)
        : ratelimit(added.limits.replaces()),
          limits(added.limits.has_more() ? &added.limits : nullptr),
          edits(added.edits)
    {}
};

bool is_forwarded(const field& f, const response_head& head, const taken_out& out)
{
    if (hop_by_hop.contains(f.id)) {
        return f.id == field_name::upgrade && head.status == upgrade_required;
    }
    if (f.id == field_name::x_request_id || (f.id == field_name::x_ratelimit && out.ratelimit)) {
        return false;
    }
    if (f.id == field_name::content_length) {
        return forwards_length(head) && !head.respelt_length;
    }
    if (out.limits != nullptr && out.limits->replaces(f.name)) {
        return false;
    }
    if (out.edits != nullptr && out.edits->takes_out(f.name)) {
        return false;
    }
    return !f.nominated;
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

void append_what_stays(const response_head& head, const taken_out& without, std::string& out)
{
    std::string_view start;
    if (!head.is_1_0() && !head.reason.empty()) {  // An empty reason may lack its space.
        start = head.start_line;
    } else {
        append_own_start(head, out);
    }
    const auto stays = [&](const field& f) { return is_forwarded(f, head, without); };
    append_lines(start, head.fields, stays, out);
    if (head.respelt_length && forwards_length(head)) {
        append_content_length(*head.respelt_length, out);
    } else if (head.announced_length) {
        append_content_length(*head.announced_length, out);
    }
}

bool has_upgrade(const response_head& head)
{
    return std::any_of(head.fields.begin(), head.fields.end(), [](const field& f) {
        return f.id == field_name::upgrade;
    });
}

void append_connection(const response_head& head, const response_options& options, std::string& out)
{
    if (head.status == 101) {
        out.append("Connection: upgrade\r\nUpgrade: websocket\r\n"sv);
        return;
    }
    const bool kept_1_0 = options.client_http_1_0 && options.client_keep_alive;
    const std::string_view lasts = options.close ? "close"sv : kept_1_0 ? "keep-alive"sv : ""sv;
    // Upgrade has to be nominated in Connection (RFC 9110 §7.8).
    if (head.status == upgrade_required && has_upgrade(head)) {
        out.append("Connection: upgrade"sv).append(lasts.empty() ? ""sv : ", "sv).append(lasts);
        out.append("\r\n"sv);
    } else if (!lasts.empty()) {
        out.append("Connection: "sv).append(lasts).append("\r\n"sv);
    }
}

void append_date_and_id(const added_fields& added, bool has_date, std::string& out)
{
    text_writer to(out, 32 + added.date.size() + added.request_id.size());
    if (!has_date && !added.date.empty()) {
        to.add("Date: ").add(added.date).add("\r\n");
    }
    if (!added.request_id.empty()) {
        to.add("X-Request-Id: ").add(added.request_id).add("\r\n");
    }
}

}  // namespace

framing outbound_framing(const response_head& head, bool client_http_1_0)
{
    const bool unbounded =
        head.body.how == framing::kind::chunked || head.body.how == framing::kind::until_close;
    if (!unbounded) {
        return head.body;
    }
    if (head.announced_length) {
        return {framing::kind::length, *head.announced_length};
    }
    return {client_http_1_0 ? framing::kind::until_close : framing::kind::chunked, 0};
}

void append_forwarded_response(
    const response_head& head, const response_options& options, std::string& out
)
{
    const added_fields& added = options.added;
    append_what_stays(head, taken_out(added), out);
    append_date_and_id(added, head.has_date, out);
    if (added.edits != nullptr) {
        out.append(added.edits->lines);
    }
    append_limit_headers(added.limits, out);
    if (options.client_accepts_trailers && head.body.how == framing::kind::chunked &&
        !head.nominates_trailers) {
        append_announced_trailers(head.fields, out);
    }
    if (outbound_framing(head, options.client_http_1_0).how == framing::kind::chunked) {
        out.append("Transfer-Encoding: chunked\r\n"sv);
    }
    append_connection(head, options, out);
    out.append("\r\n"sv);
}

void append_interim_response(const response_head& head, const added_fields& added, std::string& out)
{
    append_what_stays(head, taken_out(added), out);
    out.append("\r\n"sv);
}

}  // namespace gateway::http
