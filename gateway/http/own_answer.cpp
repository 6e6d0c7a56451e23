#include "gateway/http/own_answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gateway::http {

namespace {

using namespace std::string_view_literals;

// What is always said with a status: its text, and the type of its problem, which is registered by
// draft-ietf-httpapi-ratelimit-headers §"Problem Types"; else there is only the status.
struct known_status {
    std::string_view line;  // code and reason
    std::string_view type = "about:blank";

    std::string_view code() const { return line.substr(0, 3); }

    std::string_view reason() const { return line.substr(4); }

    int number() const { return (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0'); }
};

// The most frequent first.
constexpr std::array<known_status, 14> statuses{{
    {"429 Too Many Requests", "https://iana.org/assignments/http-problem-types#quota-exceeded"},
    {"400 Bad Request"},
    {"404 Not Found"},
    {"408 Request Timeout"},
    {"413 Content Too Large"},
    {"414 URI Too Long"},
    {"417 Expectation Failed"},
    {"431 Request Header Fields Too Large"},
    {"501 Not Implemented"},
    {"502 Bad Gateway"},
    {"503 Service Unavailable",
     "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"},
    {"504 Gateway Timeout"},
    {"505 HTTP Version Not Supported"},
    {"500 Internal Server Error"},  // the last, for a status that is none of them
}};

const known_status& known(int status)
{
    const auto last = statuses.end() - 1;
    return *std::find_if(statuses.begin(), last, [status](const known_status& s) {
        return s.number() == status;
    });
}

// The parts of the body, in order. All the texts are our own or names of limits, and none has a
// character that JSON would escape.
template <typename Add>
void for_each_part(const own_answer& answer, const known_status& status, Add add)
{
    add(R"({"type":")"sv);
    add(status.type);
    add(R"(","title":")"sv);
    add(status.reason());
    add(R"(","status":)"sv);
    add(status.code());
    add(R"(,"detail":")"sv);
    add(answer.detail);
    std::string_view before_name = R"(","violated-policies":[")";
    for (const std::string_view name : answer.violated) {
        add(before_name);
        add(name);
        before_name = R"(",")";
    }
    add(answer.violated.empty() ? R"("})"sv : R"("]})"sv);
}

std::size_t body_size(const own_answer& answer, const known_status& status)
{
    std::size_t size = 0;
    for_each_part(answer, status, [&size](std::string_view part) { size += part.size(); });
    return size;
}

}  // namespace

void append_own_answer(const own_answer& answer, std::string& out)
{
    const known_status& status = known(answer.status);
    out.append("HTTP/1.1 "sv).append(status.line);
    out.append("\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n"sv);
    out.append(answer.extra);
    if (answer.close) {
        out.append("Connection: close\r\n"sv);
    } else if (answer.keep_alive_1_0) {
        out.append("Connection: keep-alive\r\n"sv);
    }
    char size[20];
    const auto end = std::to_chars(size, size + sizeof size, body_size(answer, status)).ptr;
    out.append("Content-Length: "sv).append(size, end).append("\r\n\r\n"sv);
    if (!answer.head_only) {
        for_each_part(answer, status, [&out](std::string_view part) { out.append(part); });
    }
}

}  // namespace gateway::http
