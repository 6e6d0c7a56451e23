#include "gateway/http/output/error_body.hpp"

#include "gateway/http/output/duration_text.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

constexpr int too_many_requests = 429;

// Codes of JSON-RPC. The first is of the range that servers may use as they like; the numbers
// around -32000 have meanings for clients of MCP.
constexpr std::string_view rate_limited = "-32029";
constexpr std::string_view invalid_request = "-32600";
constexpr std::string_view internal_error = "-32603";

// Returns the names of the limits that reject, each behind the text `before`, which is left out of
// the first, and before the text `behind`.
std::string names_of(
    const error_facts& facts, std::string_view before, std::string_view behind, std::string_view in
)
{
    std::string names;
    for (const limit_report& r : facts.reports) {
        if (r.rejects()) {
            names.append(names.empty() ? "" : in).append(before).append(r.name).append(behind);
        }
    }
    return names;
}

// Returns the wait as Retry-After has it.
std::int64_t seconds_to_wait(const error_facts& facts)
{
    return std::max<std::int64_t>(seconds_up(facts.retry_after), 1);
}

// Returns a sentence for people. Some clients look for "try again in 20s" in it.
std::string message_of(const error_facts& facts)
{
    const std::string names = names_of(facts, "", "", ", ");
    std::string message;
    if (!names.empty()) {
        message.append("Rate limit reached for ").append(names).append(": ");
    }
    message.append(facts.detail).append(".");
    if (!names.empty() && facts.retry_after.count() > 0) {
        const duration_text wait(std::chrono::seconds{seconds_to_wait(facts)});
        message.append(" Please try again in ").append(wait.text()).append(".");
    }
    return message;
}

// Returns the word of a limit that rejects, such as "tokens", or an empty text.
std::string_view word_of(const error_facts& facts)
{
    for (const limit_report& r : facts.reports) {
        if (r.rejects() && r.fields != nullptr && !r.fields->word.empty()) {
            return r.fields->word;
        }
    }
    return {};
}

std::string openai_body(const error_facts& facts)
{
    const bool limited = facts.status == too_many_requests;
    const std::string_view word = limited ? word_of(facts) : std::string_view{};
    const std::string_view type = !word.empty()         ? word
                                  : limited             ? "rate_limit_exceeded"
                                  : facts.status >= 500 ? "server_error"
                                                        : "invalid_request_error";
    const std::string_view code = limited               ? R"("rate_limit_exceeded")"
                                  : facts.status >= 500 ? R"("server_error")"
                                                        : "null";
    std::string body = R"({"error":{"message":")" + message_of(facts);
    body.append(R"(","type":")").append(type);
    body.append(R"(","param":null,"code":)").append(code).append("}}");
    return body;
}

std::string_view anthropic_type(int status)
{
    switch (status) {
        case 401:
            return "authentication_error";
        case 403:
            return "permission_error";
        case 404:
            return "not_found_error";
        case 413:
            return "request_too_large";
        case too_many_requests:
            return "rate_limit_error";
        case 503:
            return "overloaded_error";
        case 504:
            return "timeout_error";
        default:
            return status >= 500 ? "api_error" : "invalid_request_error";
    }
}

// Returns visible ASCII as JSON.
std::string quoted(std::string_view text)
{
    std::string json = "\"";
    for (const char c : text) {
        json.append(c == '"' || c == '\\' ? "\\" : "").push_back(c);
    }
    json.push_back('"');
    return json;
}

std::string anthropic_body(const error_facts& facts)
{
    std::string body = R"({"type":"error","error":{"type":")";
    body.append(anthropic_type(facts.status)).append(R"(","message":")").append(message_of(facts));
    body.append(R"("},"request_id":)");
    body.append(facts.request_id.empty() ? "null" : quoted(facts.request_id)).append("}");
    return body;
}

std::string jsonrpc_body(const error_facts& facts, std::string_view id)
{
    const std::string_view code = facts.status == too_many_requests ? rate_limited
                                  : facts.status >= 500             ? internal_error
                                                                    : invalid_request;
    std::string body = R"({"jsonrpc":"2.0","id":)";
    body.append(id.empty() ? "null" : id).append(R"(,"error":{"code":)").append(code);
    body.append(R"(,"message":")").append(message_of(facts));
    body.append(R"(","data":{"status":)").append(std::to_string(facts.status));
    if (facts.retry_after.count() > 0) {
        body.append(R"(,"retry_after":)").append(std::to_string(seconds_to_wait(facts)));
    }
    const std::string names = names_of(facts, "\"", "\"", ",");
    if (!names.empty()) {
        body.append(R"(,"violated-policies":[)").append(names).append("]");
    }
    return body.append("}}}");
}

}  // namespace

std::string error_body(const error_style& style, const error_facts& facts)
{
    switch (style.format) {
        case error_format::openai:
            return openai_body(facts);
        case error_format::anthropic:
            return anthropic_body(facts);
        case error_format::jsonrpc:
            return jsonrpc_body(facts, style.rpc_id);
        case error_format::problem:
            break;
    }
    return {};
}

}  // namespace gateway::http
