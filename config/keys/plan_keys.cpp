// `describe_plans` describes the section `plans`: who has which plan.
#include "config/keys/key_parts.hpp"
#include "config/plan_lines.hpp"
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::size_t max_members = 100'000;

// `plans_draft` is a section of plans while it is read.
struct plans_draft {
    policy::plan_section section;
    written_plans written;
};

void load_plan_key(section& from, plans_draft& p, const draft& d)
{
    auto parts = load_key(from);
    require_jwt(from.value("key"), parts, d, from.found());
    if (parts.size() == 1 && parts[0].prefix == 0) {
        mark_headers_of_trusted_peers(from.value("key"), parts, d.policy.client, from.found());
        p.section.key = parts[0];
    } else if (parts.size() == 1) {
        from.problem("key", "write client_ip: members may be prefixes of any length");
    } else if (from.find("key")->is == node::kind::list) {
        from.problem("key", "expected one key part");
    }
}

// Returns the file as it was read for the configuration in force, or nothing if that has another
// one.
std::shared_ptr<const policy::plan_table> already_read(const plans_draft& p, const draft& d)
{
    for (std::size_t i = 0; d.running != nullptr && i < d.running->written_plans.size(); ++i) {
        const written_plans& old = d.running->written_plans[i];
        const policy::plan_section& section = d.running->policy->plans[i];
        if (old.path == p.written.path && section.key == p.section.key &&
            old.stamp == stamp_of(old.path)) {
            return section.members;
        }
    }
    return nullptr;
}

void load_file_of_members(section& from, plans_draft& p, const draft& d)
{
    const std::string* const file = from.text("file");
    if (file == nullptr || file->empty()) {
        from.problem("file", "expected the name of a file");
        return;
    }
    p.written.file = *file;
    p.written.path = beside(d, *file);
    p.written.stamp = stamp_of(p.written.path);
    p.section.members = already_read(p, d);
    if (p.section.members != nullptr) {
        return;
    }
    plan_file file_read = read_plan_file(p.written.path, p.section.key);
    if (file_read.members == nullptr) {
        from.problem("file", file_read.complaint);
    }
    p.section.members = std::move(file_read.members);
    p.written.stamp = file_read.stamp;
}

// Reads the keys of one plan, and returns them.
std::vector<std::string> load_plan(
    const located& list,
    const std::string& plan,
    policy::plan_table& into,
    const policy::key_part& part,
    findings& found
)
{
    (void)into.plan_named(plan);  // adds the plan even if it has no members
    std::vector<std::string> written;
    each_item(list, max_members, found, [&](const located& item) {
        const std::string* const member = scalar_text(item, "a key", found);
        if (member == nullptr) {
            return;
        }
        const std::string complaint = add_plan_member(into, *member, plan, part);
        if (!complaint.empty()) {
            found.problem(item, complaint);
        }
        written.push_back(*member);
    });
    return written;
}

void load_members(section& from, plans_draft& p)
{
    policy::plan_table table{base::random_hash_key()};
    findings& found = from.found();
    for (const auto& [plan, list] : from.named("members", policy::max_plan_names)) {
        if (list.value->is == node::kind::list) {
            p.written.members.emplace_back(
                plan, load_plan(list, plan, table, p.section.key, found)
            );
        } else {
            const std::string kind{name_of(list.value->is)};
            found.problem(list, "expected a list of keys, got " + kind);
        }
    }
    p.section.members = std::make_shared<const policy::plan_table>(std::move(table));
}

std::string complaint_about_plan(const std::string& name)
{
    return is_name(name) ? "" : "the name of a plan is 1 to 64 of A-Z a-z 0-9 _ . -";
}

void load_who(section& from, plans_draft& p, const draft& d)
{
    if (from.has("file") == from.has("members")) {
        from.problem("members", "expected one of file and members");
    } else if (from.has("file")) {
        load_file_of_members(from, p, d);
    } else {
        load_members(from, p);
    }
}

// Prints the members. Keys that clients send are secret, and numbered instead, as each is a
// different one.
std::string print_members(const plans_draft& p)
{
    const bool secret = p.section.key.can_be_absent();
    std::size_t count = 0;
    std::string all;
    for (const auto& [plan, members] : p.written.members) {
        all += (all.empty() ? "" : ", ") + yaml(plan) + ": " +
               yaml_list(members, [&](const std::string& member) {
                   return secret ? "***" + std::to_string(++count) : member;
               });
    }
    return "{ " + all + " }";
}

void describe_plan_section(keys& k, plans_draft& p, const draft& d)
{
    k("key",
      "the part of a request that tells its plan: a single one, written as in a limit's `key`",
      required)
        .other(
            {.documented = {"none", "one part"},
             .schema = R"({"if":{"type":"array"},"then":{"minItems":1,"maxItems":1,
                 "items":{"$ref":"#/$defs/key_part"}},"else":{"$ref":"#/$defs/key_part"}})",
             .read = [&](section& from) { load_plan_key(from, p, d); },
             .print = [&] { return yaml(to_text(p.section.key)); }}
        );
    k("file",
      "a file that says who has which plan, by a line `KEY,PLAN` for each. It is read again "
      "when it changes (below). A relative path counts from the folder of the configuration")
        .other(
            {.documented = {"none", "at most 10000000 lines"},
             .read = [](section&) {},
             .print = [&] { return yaml_or_nothing(p.written.file); }}
        );
    k("members",
      "plans with lists of their members' keys, instead of a file; addresses and CIDRs where "
      "`key` is `client_ip`")
        .other(
            {.documented = {"none", "at most 255 plans of 100000 keys of 256 bytes"},
             .schema =
                 R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}})",
             .read = [](section&) {},
             .print = [&] { return p.written.file.empty() ? print_members(p) : ""; }}
        );
    k("default",
      "the plan of requests whose key is no member, or which have no key; without it they have "
      "the numbers of the limit itself")
        .text(p.section.standard, {"none", "a name"}, complaint_about_plan);
    k.rule([&](section& from) { load_who(from, p, d); });
}

void load_plans(section& root, draft& d)
{
    for (const auto& [name, one] : root.named("plans", policy::max_plan_sections)) {
        plans_draft p{.section = {.name = name}, .written = {}};
        read_mapping(one, root.found(), [&](keys& k) { describe_plan_section(k, p, d); });
        if (p.section.members == nullptr) {  // after a problem
            p.section.members = std::make_shared<const policy::plan_table>(base::hash_key{});
        }
        d.policy.plans.push_back(std::move(p.section));
        d.result.written_plans.push_back(std::move(p.written));
        d.plans.push_back(one);
    }
}

}  // namespace

void describe_plans(keys& root, draft& d)
{
    const std::vector<policy::plan_section>& plans = d.policy.plans;
    const auto describe = [&](std::size_t i, keys& k) {
        plans_draft p{};
        if (i < plans.size()) {
            p = {plans[i], d.result.written_plans[i]};
        }
        describe_plan_section(k, p, d);
    };
    constexpr key itself{.name = "plans", .summary = "who has which plan, by name"};
    root(itself).each(
        {.documented = {},
         .read = [&](section& from) { load_plans(from, d); },
         .size = [&] { return plans.size(); },
         .name = [&](std::size_t i) { return plans[i].name; },
         .describe = describe}
    );
}

}  // namespace gateway::config
