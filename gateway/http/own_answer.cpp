#include "gateway/http/own_answer.hpp"

#include <array>

namespace gateway::http {

namespace {

using namespace std::string_view_literals;

struct phrase {
    int status;
    std::string_view text;
};

constexpr std::array<phrase, 14> phrases{{
    {400, "Bad Request"},
    {404, "Not Found"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};

// Registered by draft-ietf-httpapi-ratelimit-headers §"Problem Types"; else there is only the
// status.
std::string_view problem_type(const own_answer& answer)
{
    if (answer.status == 429) {
        return "https://iana.org/assignments/http-problem-types#quota-exceeded";
    }
    if (answer.status == 503) {
        return "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
    }
    return "about:blank";
}

// All the texts are our own or names of limits, and none has a character that JSON would escape.
void append_problem(const own_answer& answer, std::string& out)
{
    out.append(R"({"type":")"sv).append(problem_type(answer));
    out.append(R"(","title":")"sv).append(reason_phrase(answer.status));
    out.append(R"(","status":)"sv).append(std::to_string(answer.status));
    out.append(R"(,"detail":")"sv).append(answer.detail).append("\""sv);
    if (!answer.violated.empty()) {
        out.append(R"(,"violated-policies":[)"sv);
        for (std::size_t i = 0; i < answer.violated.size(); ++i) {
            out.append(i == 0 ? "\""sv : ",\""sv).append(answer.violated[i]).append("\""sv);
        }
        out.append("]"sv);
    }
    out.append("}"sv);
}

}  // namespace

std::string_view reason_phrase(int status)
{
    for (const phrase& p : phrases) {
        if (p.status == status) {
            return p.text;
        }
    }
    return "";
}

void append_own_answer(const own_answer& answer, std::string& out)
{
    out.append("HTTP/1.1 "sv).append(std::to_string(answer.status)).append(" "sv);
    out.append(reason_phrase(answer.status));
    out.append("\r\nContent-Type: application/problem+json\r\nContent-Length: "sv);
    const std::size_t length_goes_here = out.size();
    out.append("\r\nCache-Control: no-store\r\n"sv);
    out.append(answer.extra);
    if (answer.close) {
        out.append("Connection: close\r\n"sv);
    } else if (answer.keep_alive_1_0) {
        out.append("Connection: keep-alive\r\n"sv);
    }
    out.append("\r\n"sv);
    const std::size_t head_ends = out.size();
    append_problem(answer, out);
    const std::string length = std::to_string(out.size() - head_ends);
    if (answer.head_only) {
        out.resize(head_ends);
    }
    out.insert(length_goes_here, length);
}

}  // namespace gateway::http
