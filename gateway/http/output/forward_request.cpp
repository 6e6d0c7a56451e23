#include "gateway/http/output/forward_request.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/field_parser.hpp"
#include "gateway/http/output/text_writer.hpp"
#include "gateway/http/trailers.hpp"

namespace gateway::http {

namespace {

// Returns the version as Via has it (RFC 9110 §7.6.3).
std::string_view name_of(http_version version)
{
    switch (version) {
        case http_version::http_1_0:
            return "1.0";
        case http_version::http_1_1:
            return "1.1";
        case http_version::http_2:
            return "2";
    }
    return {};
}

using namespace std::string_view_literals;

// Fields that nominating them in Connection does not remove; the same holds for the fields of
// `from_trusted_peers`. A client that expects 100-continue sends no body until a server behind the
// gateway has seen Expect.
constexpr field_name_set essential{
    field_name::host,
    field_name::content_length,
    field_name::expect,
};

// Fields that the gateway writes itself, beside those about the connection.
constexpr field_name_set written_by_gateway{
    field_name::x_forwarded_for,
    field_name::host,
    field_name::client_cert,
    field_name::x_request_id,
};

// Fields that hold a request's position in a trace.
constexpr field_name_set trace_fields{field_name::traceparent, field_name::tracestate};

bool is_forwarded(const field& f, const request_head& head, const forward_options& options)
{
    if (hop_by_hop.contains(f.id) || written_by_gateway.contains(f.id)) {
        return false;
    }
    if (f.id == field_name::max_forwards && head.max_forwards) {
        return false;
    }
    if (f.id == field_name::expect && (!head.expects_continue || is_empty_list(f.value))) {
        // RFC 9110 §10.1.1: Expect of a 1.0 request is ignored, so no server may see it in a 1.1
        // request. An expectation that the gateway has met is no server's either.
        return false;
    }
    if (options.identity_coding && reads_as(f.name, "accept-encoding")) {
        return false;
    }
    if (f.id == field_name::content_length && head.respelt_length) {
        return false;
    }
    // Without a good traceparent, tracestate means nothing (Trace Context §3.3).
    if (!options.trace_parent.empty() && trace_fields.contains(f.id) &&
        (f.id == field_name::traceparent || head.trace_parent.empty())) {
        return false;
    }
    const bool is_identity =
        f.id == options.identity_field && reads_as(f.name, options.identity_header);
    if (is_identity && !base::equal_ignoring_case(f.name, options.identity_header)) {
        return false;
    }
    if (!options.peer_trusted && (is_identity || from_trusted_peers.contains(f.id))) {
        return false;
    }
    if (options.edits != nullptr && options.edits->takes_out(f.name)) {
        return false;
    }
    return !f.nominated || is_identity || essential.contains(f.id) ||
           from_trusted_peers.contains(f.id);
}

std::string_view up_to(std::string_view first, std::string_view last)
{
    return {first.data(), last.data() + last.size()};
}

void append_own_start(const request_head& head, const forward_options& options, std::string& out)
{
    out.append(head.method).append(" "sv);
    if (options.path_start.empty() && options.path_rest.empty()) {
        out.append(head.path);
    } else {
        out.append(options.path_start).append(options.path_rest);
    }
    out.append(head.query).append(" HTTP/1.1\r\nHost: "sv);
    const std::string_view kept = head.authority.empty() ? options.default_host : head.authority;
    out.append(options.host.empty() ? kept : options.host).append("\r\n"sv);
}

// Appends the request line, the Host field first (RFC 9110 §7.2), and the fields that stay. Most
// heads begin that way, and their beginning is then copied together with the rest.
void append_what_stays(const request_head& head, const forward_options& options, std::string& out)
{
    std::span<const field> fields = head.fields;
    std::string_view start;
    if (!fields.empty() && fields.front().id == field_name::host && head.is_target_kept() &&
        !head.is_1_0() && !options.has_own_start()) {
        start = up_to(head.method, fields.front().line);
        fields = fields.subspan(1);
    } else {
        append_own_start(head, options, out);
    }
    const auto stays = [&](const field& f) { return is_forwarded(f, head, options); };
    append_lines(start, fields, stays, out);
    if (head.respelt_length) {
        append_content_length(*head.respelt_length, out);
    }
    if (options.edits != nullptr) {
        out.append(options.edits->lines);
    }
}

// Forwarding fields of a trusted peer, about itself and those before it. Another peer's are
// ignored.
struct forwarding {
    bool has_proto = false;
    bool has_host = false;
    std::size_t chain = 0;  // Bytes of X-Forwarded-For, with separators.
};

forwarding vouched_forwarding(const request_head& head, const forward_options& options)
{
    forwarding vouched;
    for (const field& f : options.peer_trusted ? head.fields : std::span<const field>{}) {
        vouched.has_proto = vouched.has_proto || f.id == field_name::x_forwarded_proto;
        vouched.has_host = vouched.has_host || f.id == field_name::x_forwarded_host;
        if (f.id == field_name::x_forwarded_for) {
            vouched.chain += f.value.size() + ", "sv.size();
        }
    }
    return vouched;
}

// True if the gateway has a traceparent of its own to send, and the route does not remove it.
bool has_own_trace_parent(const forward_options& options)
{
    return !options.trace_parent.empty() &&
           (options.edits == nullptr || !options.edits->takes_out("traceparent"));
}

void append_ours(const request_head& head, const forward_options& options, std::string& out)
{
    const forwarding vouched = vouched_forwarding(head, options);
    const std::size_t texts = options.peer.size() + head.authority.size() +
                              options.via_name.size() + options.client_cert.size() +
                              options.client_cert_chain.size() + options.request_id.size() +
                              options.trace_parent.size();
    text_writer to(out, 288 + vouched.chain + texts);
    to.add("X-Forwarded-For: ");
    for (const field& f : vouched.chain > 0 ? head.fields : std::span<const field>{}) {
        if (f.id == field_name::x_forwarded_for && !f.value.empty()) {
            to.add(f.value).add(", ");
        }
    }
    to.add(options.peer);
    if (!vouched.has_proto) {
        to.add(options.secure ? "\r\nX-Forwarded-Proto: https" : "\r\nX-Forwarded-Proto: http");
    }
    if (!vouched.has_host && !head.authority.empty()) {
        to.add("\r\nX-Forwarded-Host: ").add(head.authority);
    }
    if (!options.client_cert.empty()) {
        to.add("\r\nClient-Cert: ").add(options.client_cert);
    }
    if (!options.client_cert_chain.empty()) {
        to.add("\r\nClient-Cert-Chain: ").add(options.client_cert_chain);
    }
    if (head.max_forwards) {
        to.add("\r\nMax-Forwards: ").add(static_cast<std::int64_t>(*head.max_forwards) - 1);
    }
    to.add("\r\nVia: ").add(name_of(head.version)).add(" ").add(options.via_name).add("\r\n");
    if (!options.request_id.empty()) {
        to.add("X-Request-Id: ").add(options.request_id).add("\r\n");
    }
    if (has_own_trace_parent(options)) {
        to.add("traceparent: ").add(options.trace_parent).add("\r\n");
    }
    if (options.identity_coding) {
        to.add("Accept-Encoding: identity\r\n");
    }
    if (head.body.how == framing::kind::chunked) {
        to.add("Transfer-Encoding: chunked\r\n");
    }
    if (head.websocket) {
        to.add("Connection: upgrade\r\nUpgrade: websocket\r\n");
    } else if (head.accepts_trailers) {
        to.add("TE: trailers\r\nConnection: TE\r\n");
    }
    to.add("\r\n");
}

}  // namespace

void append_forwarded_request(
    const request_head& head, const forward_options& options, std::string& out
)
{
    append_what_stays(head, options, out);
    if (head.body.how == framing::kind::chunked && !head.nominates_trailers) {
        append_announced_trailers(head.fields, out);
    }
    append_ours(head, options, out);
}

}  // namespace gateway::http
