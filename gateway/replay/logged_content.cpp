#include "gateway/replay/logged_content.hpp"

#include "gateway/replay/logs/logged_values.hpp"

#include <boost/json.hpp>

#include <string>

namespace gateway::replay {

namespace {

namespace json = boost::json;

// Returns the value as JSON has it. A log does not tell numbers from texts in digits, which are one
// key, so that digits are a number, by which a cost is stated.
json::value value_of(std::string_view text)
{
    std::int64_t number = 0;
    if (read_number(text, number) && std::to_string(number) == text) {
        return number;
    }
    return json::string{text};
}

// Sets the member at the path. A position in an array is the name of a member, too.
void set(json::value& content, std::string_view path, std::string_view text)
{
    const auto names = content::json_paths::parse(path);
    if (!names) {
        return;
    }
    json::value* at = &content;
    for (const std::string& name : *names) {
        at = &(at->is_object() ? at->as_object() : at->emplace_object())[name];
    }
    *at = value_of(text);
}

}  // namespace

logged_content::logged_content(const policy::policy& p, const wanted_parts& wanted)
    : policy_(p), wanted_(wanted), members_(wanted.all_from(source::json))
{}

content::request_content logged_content::of(const logged_request& r, const policy::route* named)
{
    if (members_ == 0) {
        return {};
    }
    json::value all;
    for (const part_text& p : r.parts) {
        if ((members_ & bit(p.part)) != 0) {
            set(all, wanted_.all()[p.part].name, p.text);
        }
    }
    if (named != nullptr) {
        for (const policy::json_match& m : named->match.json) {
            if ((wanted_.set_of({.from = source::json, .name = m.path}) & r.known) == 0) {
                set(all, m.path, m.value);
            }
        }
    }
    if (all.is_null()) {
        return {};
    }
    values_.emplace(policy_.request_paths);
    values_->read(json::serialize(all));
    values_->finish();
    return {values_->state(), &*values_};
}

}  // namespace gateway::replay
