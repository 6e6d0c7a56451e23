#include "gateway/http/own_answer.hpp"

#include "gateway/http/text_writer.hpp"

#include <algorithm>
#include <array>

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
constexpr std::array<known_status, 17> statuses{{
    {"429 Too Many Requests", "https://iana.org/assignments/http-problem-types#quota-exceeded"},
    {"400 Bad Request"},
    {"404 Not Found"},
    {"405 Method Not Allowed"},
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
    {"508 Loop Detected"},
    {"200 OK"},
    {"500 Internal Server Error"},  // the last, for a status that is none of them
}};

const known_status& known(int status)
{
    const auto last = statuses.end() - 1;
    return *std::find_if(statuses.begin(), last, [status](const known_status& s) {
        return s.number() == status;
    });
}

// The names of the limits, as JSON's strings with commas between them; nothing if there are none.
std::size_t size_of_names(const own_answer& answer)
{
    std::size_t size = 0;
    for (const std::string_view name : answer.violated) {
        size += name.size() + R"("",)"sv.size();
    }
    return size;
}

// All the texts are our own or names of limits, and none has a character that JSON would escape.
void add_problem(const own_answer& answer, const known_status& status, text_writer& out)
{
    out.add(R"({"type":")").add(status.type).add(R"(","title":")").add(status.reason());
    out.add(R"(","status":)").add(status.code()).add(R"(,"detail":")").add(answer.detail);
    if (answer.violated.empty()) {
        out.add(R"("})");
        return;
    }
    out.add(R"(","violated-policies":[")");
    for (const std::string_view name : answer.violated.first(answer.violated.size() - 1)) {
        out.add(name).add(R"(",")");
    }
    out.add(answer.violated.back()).add(R"("]})");
}

std::int64_t problem_size(const own_answer& answer, const known_status& status)
{
    constexpr std::string_view always = R"({"type":"","title":"","status":000,"detail":""})";
    constexpr std::string_view with_names = R"(,"violated-policies":[])";
    const std::size_t names =
        answer.violated.empty() ? 0 : with_names.size() + size_of_names(answer) - 1;
    return static_cast<std::int64_t>(
        always.size() + status.type.size() + status.reason().size() + answer.detail.size() + names
    );
}

constexpr std::size_t room_beside_texts = 512;  // for all that is the same in every answer

}  // namespace

std::size_t append_own_answer(const own_answer& answer, std::string& out)
{
    const known_status& status = known(answer.status);
    const bool is_problem = answer.status >= 400;
    const std::int64_t size = is_problem ? problem_size(answer, status) : 0;
    text_writer to(
        out,
        room_beside_texts + answer.date.size() + answer.extra.size() +
            static_cast<std::size_t>(size)
    );
    to.add("HTTP/1.1 ").add(status.line).add("\r\n").add(answer.date);
    if (is_problem) {
        to.add("Content-Type: application/problem+json\r\n");
    }
    to.add("Content-Length: ").add(size);
    to.add("\r\nCache-Control: no-store\r\n").add(answer.extra);
    if (answer.close) {
        to.add("Connection: close\r\n");
    } else if (answer.keep_alive_1_0) {
        to.add("Connection: keep-alive\r\n");
    }
    to.add("\r\n");
    if (!is_problem || answer.head_only) {
        return 0;
    }
    add_problem(answer, status, to);
    return static_cast<std::size_t>(size);
}

}  // namespace gateway::http
