#include "config/routes/rejection_keys.hpp"

#include "config/routes/answer_keys.hpp"
#include "config/text/text_file.hpp"
#include "config/text/yaml_text.hpp"

#include <array>

namespace gateway::config {
namespace {

constexpr std::string_view rejection_schema = R"({"type":"object","additionalProperties":false,
    "properties":{"status":{"type":"integer","minimum":400,"maximum":599,"default":429},
    "body_file":{"type":"string"},"content_type":{"type":"string","maxLength":256}}})";

// Statuses that the gateway's own problem responses have.
constexpr std::array problem_statuses{403, 429, 503};

void read_page(section& from, policy::route_rejection& out, const draft& d)
{
    const std::string* const path = from.text("body_file");
    if (path == nullptr) {
        return;
    }
    out.file = beside(d, *path);
    text_file read = read_text_file(out.file, max_own_body_bytes);
    if (!read.complaint.empty()) {
        from.problem("body_file", quote(out.file) + ' ' + read.complaint);
    }
    out.page.body = std::move(read.text);
    out.page.content_type = read_content_type(from).value_or(std::string(standard_content_type));
}

void read_rejection(
    section& route, std::optional<policy::route_rejection>& rejection, const draft& d
)
{
    section from{{route.find("rejection"), route.path_of("rejection")}, route.found()};
    policy::route_rejection& out = rejection.emplace();
    out.page.status = static_cast<int>(from.number("status", 400, 599).value_or(429));
    out.page.no_store = true;
    read_page(from, out, d);
    if (!from.has("body_file")) {
        if (from.has("content_type")) {
            from.problem("content_type", "has no effect without \"body_file\"");
        }
        const auto& known = problem_statuses;
        if (std::find(known.begin(), known.end(), out.page.status) == known.end()) {
            from.problem("status", "without \"body_file\", expected 403, 429 or 503");
        }
    }
    out.page.finish();
    from.refuse_the_rest();
}

std::optional<std::string> print_rejection(const std::optional<policy::route_rejection>& rejection)
{
    if (!rejection) {
        return std::nullopt;
    }
    const http::fixed_response& page = rejection->page;
    std::string text = "{ status: " + std::to_string(page.status);
    if (!rejection->file.empty()) {
        text += ", body_file: " + yaml(rejection->file);
        text += ", content_type: " + yaml(page.content_type);
    }
    return text + " }";
}

}  // namespace

void describe_rejection(keys& k, std::optional<policy::route_rejection>& rejection, const draft& d)
{
    k.other(
        {"rejection",
         "what limits of this route answer when they reject. `status` is 400 to 599; `body_file` "
         "holds at most 64 KiB and is read again at each reload; without it the body tells the "
         "problem, and `status` is 403, 429 or 503; `content_type` is `text/plain; charset=utf-8` "
         "by default"},
        {.says =
             {"`{ status: 429 }`", "`{ status: 429, body_file: FILE, content_type: text/html }`"},
         .schema = rejection_schema,
         .read = [&](section& from) { read_rejection(from, rejection, d); },
         .print = [&] { return print_rejection(rejection); },
         .optional = true}
    );
}

}  // namespace gateway::config
