#include "gateway/http/output/own_response.hpp"

#include "gateway/http/output/text_writer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gateway::http {

namespace {

// A status's phrase, and the type of its problem, registered by
// draft-ietf-httpapi-ratelimit-headers §"Problem Types". The other statuses have the type
// about:blank.
struct known_status {
    std::string_view line;  // Code and reason.
    std::string_view type = "about:blank";
};

// The most frequent status comes first.
constexpr std::array<known_status, 19> known_statuses{{
    {"429 Too Many Requests", "https://iana.org/assignments/http-problem-types#quota-exceeded"},
    {"400 Bad Request"},
    {"403 Forbidden"},
    {"404 Not Found"},
    {"405 Method Not Allowed"},
    {"408 Request Timeout"},
    {"413 Content Too Large"},
    {"414 URI Too Long"},
    {"417 Expectation Failed"},
    {"421 Misdirected Request"},
    {"431 Request Header Fields Too Large"},
    {"501 Not Implemented"},
    {"502 Bad Gateway"},
    {"503 Service Unavailable",
     "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"},
    {"504 Gateway Timeout"},
    {"505 HTTP Version Not Supported"},
    {"508 Loop Detected"},
    {"200 OK"},
    {"500 Internal Server Error"},  // The last, for all other statuses.
}};

// Texts that every response with a status has, put together once.
struct known_texts {
    int status = 0;
    std::string start_line;
    std::string problem;  // Everything before the detail.

    explicit known_texts(const known_status& s)
        : status((s.line[0] - '0') * 100 + (s.line[1] - '0') * 10 + (s.line[2] - '0'))
    {
        start_line.append("HTTP/1.1 ").append(s.line).append("\r\n");
        problem.append(R"({"type":")").append(s.type);
        problem.append(R"(","title":")").append(s.line.substr(4));
        problem.append(R"(","status":)").append(s.line.substr(0, 3)).append(R"(,"detail":")");
    }
};

const known_texts& texts_of(int status)
{
    static const std::vector<known_texts> all(known_statuses.begin(), known_statuses.end());
    return *std::find_if(all.begin(), all.end() - 1, [status](const known_texts& t) {
        return t.status == status;
    });
}

constexpr std::string_view names_start = R"(","violated-policies":[")";
constexpr std::string_view names_separator = R"(",")";
constexpr std::string_view names_end = R"("]})";
constexpr std::string_view no_names = R"("})";

std::span<const limit_report> rejecting(const own_response& response)
{
    return response.status == 429 ? response.added.limits.reports : std::span<const limit_report>{};
}

// Adds the problem. All its texts are the gateway's own or names of limits, and none has a
// character that JSON would escape.
void add_problem(const own_response& response, const known_texts& known, text_writer& out)
{
    out.add(known.problem).add(response.detail);
    std::string_view separator = names_start;
    for (const limit_report& r : rejecting(response)) {
        if (r.rejects()) {
            out.add(separator).add(r.name);
            separator = names_separator;
        }
    }
    out.add(separator == names_start ? no_names : names_end);
}

std::size_t problem_size(const own_response& response, const known_texts& known)
{
    std::size_t size = known.problem.size() + response.detail.size();
    std::size_t names = 0;
    for (const limit_report& r : rejecting(response)) {
        if (r.rejects()) {
            size += (names++ == 0 ? names_start : names_separator).size() + r.name.size();
        }
    }
    return size + (names == 0 ? no_names : names_end).size();
}

constexpr std::size_t room_beside_texts = 256;  // For all that is the same in every response.

std::size_t texts_size(const own_response& response)
{
    return response.added.date.size() + response.added.request_id.size() +
           limit_headers_size(response.added.limits) + response.extra.name.size() +
           response.extra.value.size();
}

void add_date_and_id(const own_response& response, text_writer& to)
{
    if (!response.added.date.empty()) {
        to.add("Date: ").add(response.added.date).add("\r\n");
    }
    if (!response.added.request_id.empty()) {
        to.add("X-Request-Id: ").add(response.added.request_id).add("\r\n");
    }
}

void add_extra(const own_response& response, text_writer& to)
{
    if (!response.extra.name.empty()) {
        to.add(response.extra.name).add(": ").add(response.extra.value).add("\r\n");
    }
}

void add_limits(const own_response& response, text_writer& to)
{
    add_limit_headers(response.added.limits, to);
    if (response.retry_after.count() > 0) {
        add_retry_after(response.retry_after, to);
    }
}

// Returns the body of an error in the form of the route, if that is not problem details.
std::string formatted_body(const own_response& response)
{
    return error_body(
        response.added.errors,
        {.status = response.status,
         .detail = response.detail,
         .reports = rejecting(response),
         .retry_after = response.retry_after,
         .request_id = response.added.request_id}
    );
}

// Adds what keeps the clients of these APIs, which repeat a request after any 429, from doing so if
// no time would help.
void add_should_retry(const own_response& response, text_writer& to)
{
    const error_format format = response.added.errors.format;
    const bool reads_it = format == error_format::openai || format == error_format::anthropic;
    if (reads_it && response.status == 429 && response.retry_after.count() == 0) {
        to.add("x-should-retry: false\r\n");
    }
}

// Adds the time after which a client of gRPC may try again; a negative number forbids it (gRFC A6).
void add_pushback(const own_response& response, text_writer& to)
{
    using milliseconds = std::chrono::milliseconds;
    if (response.retry_after.count() > 0) {
        const auto wait = std::chrono::ceil<milliseconds>(response.retry_after);
        to.add("grpc-retry-pushback-ms: ").add(std::int64_t{wait.count()}).add("\r\n");
    } else if (response.grpc == grpc_status::resource_exhausted) {
        to.add("grpc-retry-pushback-ms: -1\r\n");
    }
}

// Adds the fields about the connection, and the end of the head.
void add_end(const own_response& response, text_writer& to)
{
    if (response.close) {
        to.add("Connection: close\r\n");
    } else if (response.keep_alive_1_0) {
        to.add("Connection: keep-alive\r\n");
    }
    to.add("\r\n");
}

// Appends a fixed response, and returns the bytes of its content. The fields that the route sets
// may allow storing it, unless the response itself forbids that.
std::size_t append_fixed_response(const own_response& response, std::string& out)
{
    const fixed_response& fixed = *response.fixed;
    std::string_view set;
    if (response.added.edits != nullptr) {
        set = fixed.no_store ? response.added.edits->own_lines : response.added.edits->lines;
    }
    text_writer to(
        out,
        room_beside_texts + fixed.start_line.size() + fixed.content_lines.size() +
            texts_size(response) + set.size() + fixed.body.size()
    );
    to.add(fixed.start_line);
    add_date_and_id(response, to);
    to.add(fixed.content_lines);
    if (!fixed.is_bodiless()) {
        to.add("Content-Length: ").add(static_cast<std::int64_t>(fixed.body.size())).add("\r\n");
    } else if (fixed.status == 205) {
        to.add("Content-Length: 0\r\n");
    }
    add_limits(response, to);
    add_extra(response, to);
    to.add(set);
    add_end(response, to);
    if (fixed.is_bodiless() || response.head_only) {
        return 0;
    }
    to.add(fixed.body);
    return fixed.body.size();
}

// Appends the head that says how a call of gRPC has ended. The fields are trailers there if nothing
// follows them ("Trailers-Only").
void append_grpc_response(const own_response& response, std::string& out)
{
    const std::string message = grpc_message(response.detail);
    const std::string_view set =
        response.added.edits != nullptr ? std::string_view{response.added.edits->own_lines} : "";
    text_writer to(out, room_beside_texts + texts_size(response) + message.size() + set.size());
    to.add("HTTP/1.1 200 OK\r\n");
    add_date_and_id(response, to);
    to.add("Content-Type: application/grpc\r\nContent-Length: 0\r\nCache-Control: no-store\r\n");
    to.add("grpc-status: ").add(static_cast<std::int64_t>(number_of(*response.grpc)));
    to.add("\r\ngrpc-message: ").add(message).add("\r\n");
    add_limit_headers(response.added.limits, to);
    add_pushback(response, to);
    add_extra(response, to);
    to.add(set);
    add_end(response, to);
}

}  // namespace

std::size_t append_own_response(const own_response& response, std::string& out)
{
    if (response.grpc) {
        append_grpc_response(response, out);
        return 0;
    }
    if (response.fixed != nullptr) {
        return append_fixed_response(response, out);
    }
    const error_style& errors = response.added.errors;
    const known_texts& known = texts_of(errors.status_sent_for(response.status));
    const bool is_error = response.status >= 400;
    const bool is_problem = is_error && errors.format == error_format::problem;
    const std::string formatted = is_error && !is_problem ? formatted_body(response) : "";
    const std::size_t size = is_problem ? problem_size(response, known) : formatted.size();
    const std::string_view set =
        response.added.edits != nullptr ? std::string_view{response.added.edits->own_lines} : "";
    text_writer to(
        out, room_beside_texts + known.start_line.size() + texts_size(response) + set.size() + size
    );
    to.add(known.start_line);
    add_date_and_id(response, to);
    if (is_problem) {
        to.add("Content-Type: application/problem+json\r\n");
    } else if (is_error) {
        to.add("Content-Type: application/json\r\n");
    }
    to.add("Content-Length: ").add(static_cast<std::int64_t>(size));
    to.add("\r\nCache-Control: no-store\r\n");
    add_limits(response, to);
    add_should_retry(response, to);
    add_extra(response, to);
    to.add(set);
    add_end(response, to);
    if (!is_error || response.head_only) {
        return 0;
    }
    if (is_problem) {
        add_problem(response, known, to);
    } else {
        to.add(formatted);
    }
    return size;
}

}  // namespace gateway::http
