#include "gateway/http/output/forward_request.hpp"

#include "tests/unit/http/heads.hpp"

#include <vector>

namespace gateway::http {
namespace forward_request_test {

using testing::accepted_request;
using testing::values_of;

forward_options from(const char* peer, bool trusted)
{
    return {
        .peer = peer,
        .peer_trusted = trusted,
        .identity_header = "x-forwarded-for",
        .identity_field = field_name::x_forwarded_for,
        .default_host = "default.test",
    };
}

std::string forwarded(std::string_view bytes, const forward_options& options)
{
    const request_head head = accepted_request(bytes);
    std::string out = "before";  // it appends
    append_forwarded_request(head, options, out);
    EXPECT_TRUE(out.starts_with("before"));
    return out.substr(6);
}

std::string forwarded(std::string_view bytes)
{
    return forwarded(bytes, from("192.0.2.7", false));
}

std::string get(std::string_view lines, std::string_view version = "1.1")
{
    return std::string("GET /p?q HTTP/")
        .append(version)
        .append("\r\nHost: a\r\n")
        .append(lines)
        .append("\r\n");
}

// What must hold of every forwarded head: it is one, with one Host, one framing, nothing of another
// connection, and our own name.
request_head checked(const std::string& out)
{
    const request_head head = accepted_request(out);
    EXPECT_EQ(head.size, out.size()) << out;
    EXPECT_FALSE(head.is_1_0()) << out;
    EXPECT_FALSE(head.absolute_form) << out;
    EXPECT_FALSE(head.respelt_length) << out;
    for (const field& f : head.fields) {
        const bool own = f.line == "Transfer-Encoding: chunked\r\n" ||
                         (head.accepts_trailers &&
                          (f.line == "TE: trailers\r\n" || f.line == "Connection: TE\r\n")) ||
                         (f.id == field_name::trailer && head.body.how == framing::kind::chunked);
        EXPECT_TRUE(!hop_by_hop.contains(f.id) || own) << out;
    }
    EXPECT_EQ(values_of(head, field_name::x_forwarded_for).find('|'), std::string::npos) << out;
    EXPECT_EQ(values_of(head, field_name::x_forwarded_proto).find('|'), std::string::npos) << out;
    EXPECT_NE(values_of(head, field_name::via).find(" gateway"), std::string::npos) << out;
    return head;
}

TEST(forward_request, a_plain_request_keeps_its_lines_and_gets_ours_last)
{
    EXPECT_EQ(
        forwarded(
            "POST /a?b HTTP/1.1\r\nX-A:  1 \r\nHost: h:1\r\nx-b:2\r\nContent-Length: 7\r\n\r\n"
        ),
        "POST /a?b HTTP/1.1\r\nHost: h:1\r\nX-A:  1 \r\nx-b:2\r\nContent-Length: 7\r\n"
        "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: h:1\r\nVia: "
        "1.1 gateway\r\n\r\n"
    );
}

TEST(forward_request, there_is_one_host_and_it_is_the_one_routed_by)
{
    struct row {
        std::string_view bytes, start;
    };

    const std::vector<row> rows = {
        {"GET http://b:2/x?y HTTP/1.1\r\nHost: c\r\n\r\n", "GET /x?y HTTP/1.1\r\nHost: b:2\r\n"},
        {"GET http://b?y HTTP/1.1\r\nHost: c\r\n\r\n", "GET /?y HTTP/1.1\r\nHost: b\r\n"},
        {"OPTIONS http://b HTTP/1.1\r\nHost: c\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: b\r\n"},
        {"OPTIONS * HTTP/1.1\r\nHost: c\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: c\r\n"},
        {"GET / HTTP/1.0\r\nHost: c\r\n\r\n", "GET / HTTP/1.1\r\nHost: c\r\n"},
        {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: default.test\r\n"},
        {"GET / HTTP/1.1\r\nConnection: host\r\nhost:c\r\n\r\n", "GET / HTTP/1.1\r\nHost: c\r\n"},
        {"GET //v1//x?//y HTTP/1.1\r\nHost: c\r\n\r\n", "GET /v1//x?//y HTTP/1.1\r\nHost: c\r\n"},
        {"GET http://b///x HTTP/1.1\r\nHost: c\r\n\r\n", "GET /x HTTP/1.1\r\nHost: b\r\n"},
    };
    for (const row& r : rows) {
        const std::string out = forwarded(r.bytes);
        EXPECT_TRUE(out.starts_with(r.start)) << out;
        checked(out);
    }
}

TEST(forward_request, the_framing_is_the_one_the_body_was_read_by)
{
    EXPECT_EQ(checked(forwarded(get(""))).body.how, framing::kind::none);
    EXPECT_EQ(checked(forwarded(get("Content-Length: 5\r\n"))).body.length, 5u);
    EXPECT_EQ(
        checked(forwarded(get("Transfer-Encoding: CHUNKED\r\n"))).body.how, framing::kind::chunked
    );
    const auto nominated =
        checked(forwarded(get("Connection: content-length\r\nContent-Length: 5\r\n")));
    EXPECT_EQ(nominated.body.length, 5u);
    const auto coded =
        checked(forwarded(get("Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n")));
    EXPECT_EQ(coded.body.how, framing::kind::chunked);
    const auto underscored =
        checked(forwarded(get("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n")));
    EXPECT_EQ(underscored.body.how, framing::kind::length);
    EXPECT_EQ(checked(forwarded(get("Content_Length: 5\r\n"))).body.how, framing::kind::none);
}

TEST(forward_request, fields_of_this_connection_and_nominated_ones_are_left_out)
{
    const std::string out =
        forwarded(get("Connection: close, X-Mine, x-other\r\nKeep-Alive: "
                      "timeout=5\r\nProxy-Connection: close\r\nTE: gzip\r\n"
                      "Trailer: x\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\nx-mine: 1\r\nX-Kept: "
                      "2\r\nX-OTHER: 3\r\nX-Mine: 4\r\n"
                      "Connection: via\r\nVia: 1.0 other\r\nTe_: x\r\n"));
    const request_head head = checked(out);
    EXPECT_EQ(values_of(head, field_name::other), "2|x") << out;
    EXPECT_EQ(values_of(head, field_name::via), "1.1 gateway");
    EXPECT_EQ(head.fields.size(), 7u) << out;
}

TEST(forward_request, the_wish_for_trailers_passes_without_other_codings)
{
    const auto te_of = [](const std::string& lines) {
        const std::string out = forwarded(get(lines));
        const request_head head = checked(out);
        return values_of(head, field_name::te) + "," + values_of(head, field_name::connection);
    };
    for (const char* const lines :
         {"TE: trailers\r\nConnection: TE\r\n",
          "te: Trailers\r\n",
          "TE: gzip;q=0.5, trailers\r\n",
          "TE: gzip\r\nTE: trailers\r\nTE: deflate\r\n",
          "Connection: close, TE\r\nTE:,trailers \r\n"}) {
        EXPECT_EQ(te_of(lines), "trailers,TE") << lines;
    }
    for (const char* const lines :
         {"TE: gzip\r\nConnection: TE\r\n",
          "TE:\r\n",
          "TE: trailer\r\n",
          "TE: trailers;q=0\r\n",
          "T_E: trailers\r\n",
          "Accept: trailers\r\n"}) {
        EXPECT_EQ(te_of(lines), "-,-") << lines;
    }
    const std::string old = "GET / HTTP/1.0\r\nHost: a\r\nTE: trailers\r\n\r\n";
    EXPECT_EQ(forwarded(old).find("TE:"), std::string::npos);
}

TEST(forward_request, a_websocket_handshake_asks_for_no_trailers)
{
    const std::string out =
        forwarded(get("Connection: Upgrade, TE\r\nUpgrade: websocket\r\nTE: trailers\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        ));
    const request_head head = accepted_request(out);
    EXPECT_EQ(values_of(head, field_name::connection), "upgrade") << out;
    EXPECT_EQ(values_of(head, field_name::te), "-") << out;
}

TEST(forward_request, trailers_are_announced_if_they_may_follow)
{
    const auto announced = [](const std::string& lines) {
        return values_of(checked(forwarded(get(lines))), field_name::trailer);
    };
    const std::string in_chunks = "Transfer-Encoding: chunked\r\n";
    EXPECT_EQ(announced("Trailer: X-A, Host\r\nTrailer: X-B\r\n" + in_chunks), "X-A, X-B");
    EXPECT_EQ(announced("Trailer: Host\r\n" + in_chunks), "-");
    EXPECT_EQ(announced("Trailer: X-A\r\nContent-Length: 1\r\n"), "-");
    EXPECT_EQ(announced("Trailer: X-A\r\nConnection: X-C\r\n" + in_chunks), "-");
    EXPECT_EQ(announced("Trailer: X-A\r\nConnection: close, TE\r\n" + in_chunks), "X-A");
}

TEST(forward_request, what_says_who_calls_cannot_be_nominated_away)
{
    const std::string out = forwarded(
        get("Connection: X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Real-IP, "
            "Forwarded, X-Forwarded-Port\r\n"
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: "
            "b\r\nX-Real-IP: 203.0.113.9\r\n"
            "Forwarded: for=203.0.113.9\r\nX-Forwarded-Port: 1\r\n"),
        from("10.0.0.1", true)
    );
    const request_head head = checked(out);
    EXPECT_EQ(values_of(head, field_name::x_forwarded_for), "203.0.113.9, 10.0.0.1");
    EXPECT_EQ(values_of(head, field_name::x_forwarded_proto), "https");
    EXPECT_EQ(values_of(head, field_name::x_forwarded_host), "b");
    EXPECT_EQ(values_of(head, field_name::x_real_ip), "203.0.113.9");
    EXPECT_EQ(values_of(head, field_name::forwarded), "for=203.0.113.9");
    EXPECT_EQ(values_of(head, field_name::x_forwarded), "1");
}

TEST(forward_request, nothing_an_untrusted_peer_says_about_the_client_arrives)
{
    const char* const spoofs[] = {
        "X-Forwarded-For: 6.6.6.6\r\n",
        "x-forwarded-for: 6.6.6.6\r\nX-FORWARDED-FOR: 6.6.6.6\r\n",
        "X_Forwarded_For: 6.6.6.6\r\n",
        "X-Forwarded_For: 6.6.6.6\r\n",
        "X.Forwarded.For: 6.6.6.6\r\n",
        "X-Forwarded-Proto: 6.6.6.6\r\n",
        "X_FORWARDED_PROTO: 6.6.6.6\r\n",
        "X-Forwarded-Host: 6.6.6.6\r\n",
        "X-Forwarded-Port: 6.6.6.6\r\n",
        "X_Forwarded_Port: 6.6.6.6\r\n",
        "X-Real-IP: 6.6.6.6\r\n",
        "X_Real_IP: 6.6.6.6\r\n",
        "Forwarded: for=6.6.6.6\r\n",
        "X-Original-URL: /6.6.6.6\r\n",
        "x_original_uri: /6.6.6.6\r\n",
        "X-Original-Method: 6.6.6.6\r\n",
        "X-Rewrite-URL: /6.6.6.6\r\n",
        "X_Rewrite_Url: /6.6.6.6\r\n",
        "X-Script-Name: /6.6.6.6\r\n",
        "SCRIPT_NAME: /6.6.6.6\r\n",
        "Script-Name: /6.6.6.6\r\n",
        "Client-Address: 6.6.6.6\r\n",
        "CLIENT_ADDRESS: 6.6.6.6\r\n",
        "Connection: client-address\r\nClient-Address: 6.6.6.6\r\n",
    };
    forward_options options = from("192.0.2.7", false);
    options.identity_header = "client-address";
    options.identity_field = classify(options.identity_header);
    for (const char* spoof : spoofs) {
        const std::string out = forwarded(get(spoof), options);
        const request_head head = checked(out);
        EXPECT_EQ(out.find("6.6.6.6"), std::string::npos) << out;
        EXPECT_EQ(values_of(head, field_name::x_forwarded_for), "192.0.2.7") << out;
        EXPECT_EQ(values_of(head, field_name::x_forwarded_proto), "http") << out;
        EXPECT_EQ(values_of(head, field_name::x_forwarded_host), "a") << out;
    }
}

TEST(forward_request, a_trusted_peer_is_believed_but_not_in_disguise)
{
    forward_options options = from("10.0.0.1", true);
    options.identity_header = "client-address";
    options.identity_field = classify(options.identity_header);
    const std::string out = forwarded(
        get("X-Forwarded-For: 1.1.1.1,2.2.2.2\r\nX-A: b\r\nX-Forwarded-For:\r\nx-forwarded-for: "
            "3.3.3.3 \r\n"
            "X_Forwarded_For: 6.6.6.6\r\nClient_Address: 6.6.6.6\r\nConnection: client-address\r\n"
            "Client-Address: 1.1.1.1\r\nX-Forwarded-Proto: https\r\n"
            "X-Original-URL: /a\r\nX_Original_URL: 6.6.6.6\r\nSCRIPT_NAME: /b\r\n"),
        options
    );
    const request_head head = checked(out);
    EXPECT_EQ(values_of(head, field_name::x_forwarded_for), "1.1.1.1,2.2.2.2, 3.3.3.3, 10.0.0.1");
    EXPECT_EQ(values_of(head, field_name::x_forwarded_proto), "https");
    EXPECT_EQ(values_of(head, field_name::x_forwarded_host), "a");
    EXPECT_EQ(values_of(head, field_name::other), "b|1.1.1.1");
    EXPECT_EQ(values_of(head, field_name::rewrites_target), "/a|/b");
    EXPECT_EQ(out.find("6.6.6.6"), std::string::npos) << out;
}

TEST(forward_request, the_request_id_is_ours_alone)
{
    forward_options options = from("10.0.0.1", true);
    options.request_id = "7";
    const std::string out = forwarded(
        get("X-Request-Id: a\r\nx-request-id: b\r\nX_Request_Id: c\r\n"
            "Connection: x-request-id\r\n"),
        options
    );
    EXPECT_EQ(values_of(checked(out), field_name::x_request_id), "7") << out;
    EXPECT_EQ(values_of(checked(out), field_name::disguised), "-") << out;
}

TEST(forward_request, a_malformed_trace_begins_anew)
{
    const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const std::string line = "traceparent: " + good + "\r\n";
    const std::string state = "tracestate: a=1\r\nTraceState: b=2\r\n";
    forward_options options = from("192.0.2.7", false);
    const auto traces = [&](const std::string& lines) {
        const std::string bytes = get(lines);
        options.trace_parent = accepted_request(bytes).malformed_trace ? "new" : "";
        const std::string out = forwarded(bytes, options);
        const request_head head = accepted_request(out);
        return values_of(head, field_name::traceparent) + ' ' +
               values_of(head, field_name::tracestate);
    };
    EXPECT_EQ(traces(""), "- -");
    EXPECT_EQ(traces(state), "- a=1|b=2");
    EXPECT_EQ(traces(state + line), good + " a=1|b=2");
    EXPECT_EQ(traces("TraceParent: " + good + "\r\n"), good + " -");
    EXPECT_EQ(traces(state + line + line), "new -");
    EXPECT_EQ(traces(state + "traceparent: " + good + "-\r\n"), "new -");
    EXPECT_EQ(traces("traceparent:\r\n" + state + line), "new -");
    EXPECT_EQ(traces("Connection: traceparent\r\n" + line), "- -");

    field_edits edits;
    edits.remove = {"Traceparent"};
    edits.finish();
    options.edits = &edits;
    EXPECT_EQ(traces(state + line), "- a=1|b=2");
    EXPECT_EQ(traces(state + line + line), "- -");
}

TEST(forward_request, a_trace_goes_on_in_a_span_of_ours)
{
    const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const std::string line = "traceparent: " + good + "\r\n";
    const std::string state = "tracestate: a=1\r\nTraceState: b=2\r\n";
    forward_options options = from("192.0.2.7", false);
    options.trace_parent = "ours";
    const auto traces = [&](const std::string& lines) {
        const std::string out = forwarded(get(lines), options);
        const request_head head = accepted_request(out);
        return values_of(head, field_name::traceparent) + ' ' +
               values_of(head, field_name::tracestate);
    };
    EXPECT_EQ(traces(""), "ours -");
    EXPECT_EQ(traces(state), "ours -") << "the state is of no trace";
    EXPECT_EQ(traces(state + line), "ours a=1|b=2");
    EXPECT_EQ(traces(line), "ours -");
    EXPECT_EQ(traces(state + line + line), "ours -");

    field_edits edits;
    edits.remove = {"Traceparent"};
    edits.finish();
    options.edits = &edits;
    EXPECT_EQ(traces(line), "- -");
}

TEST(forward_request, via_names_the_version_that_was_received)
{
    EXPECT_EQ(
        values_of(checked(forwarded(get("Via: 1.1 x\r\n"))), field_name::via), "1.1 x|1.1 gateway"
    );
    EXPECT_EQ(values_of(checked(forwarded(get("", "1.0"))), field_name::via), "1.0 gateway");
}

TEST(forward_request, max_forwards_of_options_and_trace_is_one_less)
{
    const auto hops = [](std::string_view method, std::string_view lines) {
        const std::string bytes =
            std::string(method) + " / HTTP/1.1\r\nHost: a\r\n" + std::string(lines) + "\r\n";
        return values_of(checked(forwarded(bytes)), field_name::max_forwards);
    };
    for (const char* method : {"OPTIONS", "TRACE"}) {
        EXPECT_EQ(hops(method, ""), "-");
        EXPECT_EQ(hops(method, "Max-Forwards: 1\r\n"), "0");
        EXPECT_EQ(hops(method, "max-forwards: 010\r\n"), "9");
        EXPECT_EQ(hops(method, "Max-Forwards: 10\r\nConnection: Max-Forwards\r\n"), "9");
        EXPECT_EQ(hops(method, "Max-Forwards: 99999999999999999999999\r\n"), "999999");
    }
    EXPECT_EQ(hops("GET", "Max-Forwards: 0\r\n"), "0");
    EXPECT_EQ(hops("GET", "Max-Forwards: x\r\n"), "x");
}

TEST(forward_request, an_expectation_is_forwarded_unless_http_1_0_made_it_meaningless)
{
    EXPECT_EQ(
        values_of(checked(forwarded(get("Expect: 100-continue\r\n"))), field_name::expect),
        "100-continue"
    );
    EXPECT_EQ(
        values_of(checked(forwarded(get("Expect: 100-continue\r\n", "1.0"))), field_name::expect),
        "-"
    );
    EXPECT_EQ(values_of(checked(forwarded(get("Expect: x\r\n", "1.0"))), field_name::expect), "-");
    const std::string nominated = "Connection: expect\r\nExpect: 100-continue\r\n";
    EXPECT_EQ(values_of(checked(forwarded(get(nominated))), field_name::expect), "100-continue");
    for (const std::string empty : {"Expect:\r\n", "Expect: , \r\n"}) {
        EXPECT_EQ(values_of(checked(forwarded(get(empty))), field_name::expect), "-");
        const std::string lines = empty + "Expect: 100-continue\r\n" + empty;
        const std::string one = values_of(checked(forwarded(get(lines))), field_name::expect);
        EXPECT_EQ(one, "100-continue");
    }
}

TEST(forward_request, a_content_length_is_written_as_the_number_it_is)
{
    for (const std::string line :
         {"Content-Length: 010",
          "Content-Length:10",
          "Content-Length:10 ",
          "Content-Length:\t10",
          "Content-Length:  10",
          "Content-Length: 10\t",
          "content-length: 10 ",
          "Content-Length: 0000000000000000000000000000000000010"}) {
        const std::string sent = forwarded(get("A: b\r\n" + line + "\r\nC: d\r\n"));
        EXPECT_EQ(checked(sent).body.length, 10U);
        EXPECT_NE(sent.find("\r\nContent-Length: 10\r\n"), std::string::npos) << line;
        EXPECT_EQ(sent.find(line + "\r\n"), std::string::npos) << line;
        EXPECT_NE(sent.find("\r\nA: b\r\nC: d\r\n"), std::string::npos) << line;
    }
    for (const std::string line : {"Content-Length: 10", "CONTENT-length: 0"}) {
        const std::string sent = forwarded(get("A: b\r\n" + line + "\r\nC: d\r\n"));
        EXPECT_NE(sent.find("\r\nA: b\r\n" + line + "\r\nC: d\r\n"), std::string::npos);
    }
    const std::string nothing = forwarded(get("Content-Length: 00\r\n"));
    EXPECT_NE(nothing.find("\r\nContent-Length: 0\r\n"), std::string::npos);
    const std::string most = forwarded(get("Content-Length: 09223372036854775807\r\n"));
    EXPECT_NE(most.find("\r\nContent-Length: 9223372036854775807\r\n"), std::string::npos);
}

// Every subset of these lines, in two orders, from both kinds of peer.
TEST(forward_request, every_mix_of_fields_gives_a_sound_head)
{
    const std::vector<std::string> lines = {
        "Connection: x-a, host, content-length, transfer-encoding, te\r\n",
        "X-A: 1\r\n",
        "X-B: 2\r\n",
        "Transfer-Encoding: chunked\r\n",
        "X-Forwarded-For: 1.1.1.1\r\n",
        "X_Forwarded-For: 6.6.6.6\r\n",
        "TE: trailers\r\n",
        "Expect: 100-continue\r\n",
        "Expect:\r\n",
        "X-Forwarded-Proto: https\r\n",
    };
    for (unsigned subset = 0; subset < 1u << lines.size(); ++subset) {
        std::string ahead;
        std::string behind;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if ((subset >> i & 1) != 0) {
                ahead += lines[i];
                behind.insert(0, lines[i]);
            }
        }
        for (const std::string& mix : {ahead, behind}) {
            for (const bool trusted : {false, true}) {
                const std::string bytes = get(mix);
                const request_head in = accepted_request(bytes);
                const std::string out = forwarded(bytes, from("10.0.0.1", trusted));
                const request_head head = checked(out);
                EXPECT_EQ(head.body.how, in.body.how);
                EXPECT_EQ(out.find("6.6.6.6"), std::string::npos);
                EXPECT_EQ(
                    out.find("1.1.1.1") != std::string::npos, trusted && (subset >> 4 & 1) != 0
                ) << out;
                EXPECT_EQ(out.find("X-A") != std::string::npos, (subset & 3) == 2) << out;
                EXPECT_EQ(out.find("X-B") != std::string::npos, (subset & 4) != 0) << out;
            }
        }
    }
}

TEST(forward_request, edits_replace_and_remove_fields_however_they_are_spelt)
{
    field_edits e;
    e.set = {{"X-Env", "prod"}, {"Authorization", "Bearer t"}};
    e.remove = {"X-Debug"};
    e.finish();
    forward_options options = from("192.0.2.7", false);
    options.edits = &e;
    EXPECT_EQ(
        forwarded(
            get("x-env: a\r\nX_Env: b\r\nConnection: X-Env\r\nB: c\r\nX_DEBUG: 1\r\nx-debug: 1\r\n"
                "X-Debugger: 2\r\nauthorization: Basic x\r\nContent-Length: 00\r\n"),
            options
        ),
        "GET /p?q HTTP/1.1\r\nHost: a\r\nB: c\r\nX-Debugger: 2\r\nContent-Length: 0\r\n"
        "X-Env: prod\r\nAuthorization: Bearer t\r\n"
        "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n"
        "Via: 1.1 gateway\r\n\r\n"
    );
}

}  // namespace forward_request_test
}  // namespace gateway::http
