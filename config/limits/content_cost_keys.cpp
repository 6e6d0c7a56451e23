// Forms of `cost` that depend on a request's content: a member that states it, or its bytes.
#include "config/limits/limit_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/content/json_paths.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t most_parts = 8;

// Reads one part, with its default and its bound.
void read_content_part(section& from, std::vector<policy::content_cost>& parts)
{
    policy::content_cost part{.max = policy::most_cost};
    const bool by_member = from.has("json");
    if (by_member == from.has("request_bytes")) {
        from.problem("json", "expected either json or request_bytes");
        return;
    }
    if (by_member) {
        from.take_text("json", [&](const std::string& text) {
            return take_json_path(text, part.path);
        });
    } else {
        part.standard = 0;
        from.take_number("request_bytes", part.bytes_per_token, {1, most_tokens});
    }
    from.take_number("default", part.standard, {0, most_tokens});
    if (from.take_number("max", part.max, {1, most_tokens}) && part.standard > part.max) {
        from.problem("default", "more than \"max\"");
    }
    parts.push_back(std::move(part));
}

std::string print_content_part(const policy::content_cost& part)
{
    const std::string source = part.path.empty()
                                   ? "request_bytes: " + std::to_string(part.bytes_per_token)
                                   : "json: " + yaml(part.path);
    const std::string most =
        part.max == policy::most_cost ? "" : ", max: " + std::to_string(part.max);
    return source + ", default: " + std::to_string(part.standard) + most;
}

}  // namespace

std::string take_json_path(const std::string& text, std::string& path)
{
    path = text;
    return content::json_paths::parse(text)
               ? ""
               : "expected a path such as usage.total_tokens: 1 to 8 names of 1 to 64 visible "
                 "ASCII characters, with dots between them";
}

void read_content_cost(section& from, policy::cost_rule& cost)
{
    cost.caps = !from.has("request_bytes");
    if (from.has("sum")) {
        from.each_item("sum", most_parts, "expected at least one cost", [&](const located& one) {
            section part{one, from.found()};
            read_content_part(part, cost.parts);
            part.refuse_the_rest();
        });
    } else {
        read_content_part(from, cost.parts);
    }
    cost.standard = 0;
    for (const policy::content_cost& part : cost.parts) {
        cost.standard += part.standard;
    }
}

std::string print_content_cost(const policy::cost_rule& cost)
{
    std::string all;
    for (const policy::content_cost& part : cost.parts) {
        const std::string one = print_content_part(part);
        all += cost.parts.size() == 1 ? one : (all.empty() ? "{ " : ", { ") + one + " }";
    }
    return (cost.parts.size() == 1 ? "{ " + all : "{ sum: [" + all + "]") + " }";
}

}  // namespace gateway::config
