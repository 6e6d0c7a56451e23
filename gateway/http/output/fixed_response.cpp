#include "gateway/http/output/fixed_response.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::http {

namespace {

constexpr std::array<std::pair<int, std::string_view>, 44> reasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};

}  // namespace

std::string_view reason_of(int status)
{
    const auto found = std::find_if(reasons.begin(), reasons.end(), [status](const auto& r) {
        return r.first == status;
    });
    return found != reasons.end() ? found->second : std::string_view{};
}

void fixed_response::finish()
{
    start_line = "HTTP/1.1 " + std::to_string(status) + ' ';
    start_line.append(reason_of(status)).append("\r\n");
    content_lines = content_type.empty() ? "" : "Content-Type: " + content_type + "\r\n";
    content_lines.append(no_store ? "Cache-Control: no-store\r\n" : "");
}

}  // namespace gateway::http
