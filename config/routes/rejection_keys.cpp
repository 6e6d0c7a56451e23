// Key `rejection` of a route: what becomes of a request that limits of the route reject.
#include "config/routes/route_sections.hpp"
#include "config/text/text_file.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>
#include <array>

namespace gateway::config {
namespace {

using http::error_format;

// Statuses that the gateway's own problem responses have.
constexpr std::array problem_statuses{403, 429, 503};

constexpr words<error_format, 4> formats{
    {{"problem", error_format::problem},
     {"openai", error_format::openai},
     {"anthropic", error_format::anthropic},
     {"jsonrpc", error_format::jsonrpc}}};

constexpr int success = 200;
constexpr int lowest_error = 400;

std::string take_page(const std::string& path, policy::route_rejection& out, const draft& d)
{
    out.file = beside(d, path);
    text_file read = read_text_file(out.file, max_own_body_bytes);
    out.page.body = std::move(read.text);
    out.page.content_type = standard_content_type;
    return read.complaint.empty() ? "" : quote(out.file) + ' ' + read.complaint;
}

// Checks `status` for what no other key changes. 200 stands in the form of its own.
void check_status(section& from, int status, error_format format)
{
    const bool is_result = status == success && format == error_format::jsonrpc;
    if (status < lowest_error && !is_result) {
        from.problem("status", "expected 400 to 599, or 200 with \"format: jsonrpc\"");
    }
}

void check_page(section& from, const http::fixed_response& page)
{
    if (from.has("body_file")) {
        if (from.has("format")) {
            from.problem("format", "not with \"body_file\", which is the whole body");
        }
        return;
    }
    if (from.has("content_type")) {
        from.problem("content_type", "has no effect without \"body_file\"");
    }
    const auto& known = problem_statuses;
    if (std::find(known.begin(), known.end(), page.status) == known.end()) {
        from.problem("status", "without \"body_file\", expected 403, 429 or 503");
    }
}

void describe_page(keys& k, policy::route_rejection& out, const draft& d)
{
    k("upstream", "the upstream that serves the request instead, with X-Over-Limit")
        .reference(out.upstream, {}, "upstream", d.policy.upstreams);
    int status = out.rejects_with_200 ? success : out.page.status;
    k("status", "status of the response").number(status, {success, 599});
    out.rejects_with_200 = status == success;
    out.page.status = out.rejects_with_200 ? 429 : status;
    k("format", "the API whose clients read the errors of the route")
        .printed_if(out.format != error_format::problem)
        .word(out.format, formats);
    k("body_file", "a file with the body of the response")
        .text(
            {.take = [&](const std::string& path) { return take_page(path, out, d); },
             .print = [&] { return yaml_or_nothing(out.file); }}
        );
    describe_content_type(k, out.page.content_type);
    k.rule([&out, status](section& from) {
        check_status(from, status, out.format);
        check_page(from, out.page);
        out.page.finish();
    });
}

}  // namespace

void describe_rejection(keys& k, std::optional<policy::route_rejection>& rejection, const draft& d)
{
    const auto describe = [&](keys& inner) {
        policy::route_rejection fresh;
        fresh.page.status = 429;
        fresh.page.no_store = true;
        describe_page(inner, rejection ? *rejection : rejection.emplace(fresh), d);
    };
    k("rejection",
      "the answer when a limit of this route rejects. `status` is 400 to 599; `body_file` holds "
      "at most 64 KiB and is read again at each reload; without it the body tells the problem, "
      "and `status` is 403, 429 or 503; `content_type` is `text/plain; charset=utf-8` by "
      "default. `format` is `problem`, `openai`, `anthropic` or `jsonrpc`, the form of all errors "
      "of the gateway's own on the route; with `upstream` that one serves the request instead "
      "(below)")
        .line(
            {.documented =
                 {"`{ status: 429 }`",
                  "`{ status: 429, body_file: FILE, content_type: text/html }`, "
                  "`{ format: openai }`, `{ upstream: NAME }`"},
             .is_set = rejection.has_value(),
             .describe = describe}
        );
}

}  // namespace gateway::config
