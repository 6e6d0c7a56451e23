#include "config/urls/address.hpp"
#include "gateway/admin/explanation_json.hpp"
#include "gateway/commands/admin_client.hpp"
#include "gateway/commands/commands.hpp"
#include "gateway/commands/explained_text.hpp"

#include <boost/json.hpp>

namespace gateway {

namespace {

using boost::beast::http::field;

// Longest time to connect and be answered, more than any admin.timeout that an operator waits for.
constexpr base::duration longest_wait = std::chrono::seconds{20};

probes::control_upload explain_post(
    const intake::hypothetical_request& hypothetical, const std::string& token
)
{
    boost::json::object headers;
    for (const auto& [name, value] : hypothetical.headers) {
        boost::json::value& lines = headers[name];
        if (lines.is_null()) {
            lines = boost::json::array();
        }
        lines.get_array().emplace_back(value);
    }
    const boost::json::value body{
        {"method", hypothetical.method},
        {"url", hypothetical.url},
        {"headers", std::move(headers)},
        {"body", hypothetical.content},
        {"peer", hypothetical.peer},
    };
    probes::control_upload r(boost::beast::http::verb::post, "/v1/explain", 11);
    r.set(field::content_type, "application/json");
    if (!token.empty()) {
        r.set(field::authorization, "Bearer " + token);
    }
    r.body() = boost::json::serialize(body);
    r.prepare_payload();
    return r;
}

// Returns the running gateway's explanation, or nothing and sets `complaint` to what went wrong.
std::optional<boost::json::object> ask_gateway(
    const net::listen_address& admin, probes::control_upload request, std::string& complaint
)
{
    const admin_reply reply = ask_admin(admin, std::move(request), longest_wait);
    if (!reply.failed.empty()) {
        complaint = "the admin API on " + config::to_text(admin) + ": " + reply.failed;
        return std::nullopt;
    }
    boost::json::error_code bad;
    boost::json::value parsed = boost::json::parse(reply.body, bad);
    if (bad || !parsed.is_object()) {
        complaint = "the admin API on " + config::to_text(admin) + " answered no JSON";
        return std::nullopt;
    }
    if (reply.status != 200) {
        const std::string detail = problem_detail(reply.body);
        complaint = "the admin API answered " + std::to_string(reply.status) + ": " +
                    (detail.empty() ? reply.body : detail);
        return std::nullopt;
    }
    return std::move(parsed.get_object());
}

}  // namespace

int explain_request(
    const config::settings& settings,
    const cli::request& request,
    std::ostream& out,
    std::ostream& err
)
{
    std::string complaint;
    if (request.admin) {
        const auto explanation = ask_gateway(
            *request.admin,
            explain_post(request.hypothetical, settings.server.admin_token.text),
            complaint
        );
        if (!explanation) {
            err << complaint << '\n';
            return cli::failed_while_running;
        }
        write_explanation(*explanation, out);
        return cli::done;
    }
    const limits::explanation e =
        limits::explain(settings.policy, settings.http, request.hypothetical, complaint);
    if (!complaint.empty()) {
        err << complaint << '\n';
        return cli::wrong_usage;
    }
    write_explanation(admin::as_json(e, {}).get_object(), out);
    return cli::done;
}

}  // namespace gateway
