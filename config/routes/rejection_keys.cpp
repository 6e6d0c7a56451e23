// Key `rejection` of a route: the response when limits of the route reject a request.
#include "config/routes/route_sections.hpp"
#include "config/text/text_file.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>
#include <array>

namespace gateway::config {
namespace {

// Statuses that the gateway's own problem responses have.
constexpr std::array problem_statuses{403, 429, 503};

std::string take_page(const std::string& path, policy::route_rejection& out, const draft& d)
{
    out.file = beside(d, path);
    text_file read = read_text_file(out.file, max_own_body_bytes);
    out.page.body = std::move(read.text);
    out.page.content_type = standard_content_type;
    return read.complaint.empty() ? "" : quote(out.file) + ' ' + read.complaint;
}

void check_page(section& from, const http::fixed_response& page)
{
    if (from.has("body_file")) {
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
    k("status", "status of the response").number(out.page.status, {400, 599});
    k("body_file", "a file with the body of the response")
        .text(
            {.take = [&](const std::string& path) { return take_page(path, out, d); },
             .print = [&] { return yaml_or_nothing(out.file); }}
        );
    describe_content_type(k, out.page.content_type);
    k.rule([&out](section& from) {
        check_page(from, out.page);
        out.page.finish();
    });
}

}  // namespace

void describe_rejection(keys& k, std::optional<policy::route_rejection>& rejection, const draft& d)
{
    const auto describe = [&](keys& inner) {
        const policy::route_rejection fresh{.page = {.status = 429, .no_store = true}, .file = {}};
        describe_page(inner, rejection ? *rejection : rejection.emplace(fresh), d);
    };
    k("rejection",
      "the answer when a limit of this route rejects. `status` is 400 to 599; `body_file` holds "
      "at most 64 KiB and is read again at each reload; without it the body tells the problem, "
      "and `status` is 403, 429 or 503; `content_type` is `text/plain; charset=utf-8` by "
      "default")
        .line(
            {.documented =
                 {"`{ status: 429 }`",
                  "`{ status: 429, body_file: FILE, content_type: text/html }`"},
             .is_set = rejection.has_value(),
             .describe = describe}
        );
}

}  // namespace gateway::config
