#include "gateway/http/own_answer.hpp"

#include <array>

namespace gateway::http {

namespace {

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
    out.append(R"({"type":")").append(problem_type(answer));
    out.append(R"(","title":")").append(reason_phrase(answer.status));
    out.append(R"(","status":)").append(std::to_string(answer.status));
    out.append(R"(,"detail":")").append(answer.detail).append("\"");
    if (!answer.violated.empty()) {
        out.append(R"(,"violated-policies":[)");
        for (std::size_t i = 0; i < answer.violated.size(); ++i) {
            out.append(i == 0 ? "\"" : ",\"").append(answer.violated[i]).append("\"");
        }
        out.append("]");
    }
    out.append("}");
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
    thread_local std::string body;  // its length goes before it
    body.clear();
    append_problem(answer, body);
    out.append("HTTP/1.1 ").append(std::to_string(answer.status)).append(" ");
    out.append(reason_phrase(answer.status)).append("\r\n");
    out.append("Content-Type: application/problem+json\r\nContent-Length: ");
    out.append(std::to_string(body.size())).append("\r\nCache-Control: no-store\r\n");
    out.append(answer.extra);
    if (answer.close) {
        out.append("Connection: close\r\n");
    } else if (answer.keep_alive_1_0) {
        out.append("Connection: keep-alive\r\n");
    }
    out.append("\r\n");
    if (!answer.head_only) {
        out.append(body);
    }
}

}  // namespace gateway::http
