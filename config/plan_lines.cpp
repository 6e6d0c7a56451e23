#include "config/plan_lines.hpp"

#include "config/text/text_rules.hpp"
#include "gateway/base/chars.hpp"
#include "gateway/base/ip_prefix.hpp"
#include "gateway/base/text.hpp"
#include "gateway/base/utf8.hpp"
#include "gateway/policy/stated_value.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using added = policy::plan_table::added;

std::string complaint_about(added result)
{
    switch (result) {
        case added::has_another_plan:
            return "this key is in another plan already";
        case added::no_room:
            return "too many keys, the maximum is " + std::to_string(policy::max_plan_keys);
        case added::yes:
            break;
    }
    return {};
}

}  // namespace

std::string add_plan_member(
    policy::plan_table& to,
    std::string_view member,
    std::string_view plan,
    const policy::key_part& part
)
{
    if (member.empty()) {
        return "the key is empty";
    }
    if (member.size() > policy::longest_plan_key) {
        return "the key is too long, the maximum is " + std::to_string(policy::longest_plan_key) +
               " bytes";
    }
    if (!is_name(plan)) {
        return "the name of a plan is 1 to 64 of A-Z a-z 0-9 _ . -";
    }
    thread_local http::part_value value;  // keeps its memory
    const bool by_address = part.from == policy::key_part::source::client_ip;
    const auto prefix = by_address ? base::ip_prefix::parse(member) : std::nullopt;
    if (by_address && !prefix) {
        return "expected an address or a prefix such as 10.0.0.0/8, no bits set after its length";
    }
    if (!by_address) {
        std::string complaint = policy::read_stated_value(part, member, value);
        if (!complaint.empty()) {
            return complaint;
        }
    }
    const policy::plan_id id = to.plan_named(plan);
    if (id == 0) {
        return "too many plans, the maximum is " + std::to_string(policy::max_plan_names);
    }
    return complaint_about(prefix ? to.add(*prefix, id) : to.add(value.text(), id));
}

bool plan_lines::add(std::string_view piece)
{
    while (complaint_.empty()) {
        const std::size_t end = piece.find('\n');
        const std::string_view text = piece.substr(0, end);
        if (begun_.size() + text.size() > longest_plan_line) {
            ++line_;
            complaint_ = "longer than " + std::to_string(longest_plan_line) + " bytes";
        } else if (end == std::string_view::npos) {
            begun_.append(text);
            return true;
        } else if (begun_.empty()) {
            read(text);
        } else {
            read(begun_.append(text));
            begun_.clear();
        }
        piece.remove_prefix(std::min(end, piece.size() - 1) + 1);
    }
    return false;
}

bool plan_lines::finish()
{
    return complaint_.empty() && (begun_.empty() || read(begun_));
}

bool plan_lines::read(std::string_view line)
{
    ++line_;
    complaint_ = add_line(line);
    return complaint_.empty();
}

std::string plan_lines::add_line(std::string_view line)
{
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (line_ > max_plan_lines) {
        return "too many lines, the maximum is " + std::to_string(max_plan_lines);
    }
    if (line_ == 1 && line.starts_with(byte_order_mark)) {
        line.remove_prefix(byte_order_mark.size());
    }
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (base::first_not_utf8(line) != std::string_view::npos) {
        return "the file is not UTF-8: save it in that encoding";
    }
    line = base::trimmed(line);
    is_empty_ = is_empty_ && line.empty();
    if (line.empty() || line.front() == '#') {
        return {};
    }
    const auto is_bad = [](char c) { return base::is_control(c) && c != '\t'; };
    if (std::any_of(line.begin(), line.end(), is_bad)) {
        return "a control character";
    }
    const std::size_t comma = line.rfind(',');
    if (comma == std::string_view::npos) {
        return "expected KEY,PLAN";
    }
    const std::string_view key = base::trimmed(line.substr(0, comma));
    if (base::without_quotes(key).size() < key.size()) {
        return "quotes would be part of the key: write it without them";
    }
    return add_plan_member(table_, key, base::trimmed(line.substr(comma + 1)), part_);
}

}  // namespace gateway::config
