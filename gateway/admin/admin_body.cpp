#include "gateway/admin/admin_body.hpp"

#include "gateway/base/quantity.hpp"
#include "gateway/base/suggest.hpp"
#include "gateway/identity/strict_json.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace gateway::admin {

namespace {

// Shortens a name for a complaint, as the names in a body come from strangers.
std::string shortened(std::string_view name)
{
    constexpr std::size_t most = 40;
    return name.size() <= most ? std::string{name} : std::string{name.substr(0, most)} + "...";
}

}  // namespace

admin_body::admin_body(std::string_view json)
{
    if (auto strictly = identity::parse_strict_json(json)) {
        members_ = *std::move(strictly);
        return;
    }
    boost::json::error_code ec;
    const boost::json::value whole = boost::json::parse({json.data(), json.size()}, ec);
    if (ec) {
        complaint_ = "the body is no JSON: " + ec.message();
    } else if (!whole.is_object()) {
        complaint_ = "the body is no JSON object, such as {\"limit\": \"NAME\", \"key\": []}";
    } else {
        complaint_ =
            "the body can be read in two ways: a member comes twice, or a number is too "
            "large";
    }
}

const boost::json::value* admin_body::find(std::string_view name)
{
    known_.push_back(name);
    return members_.if_contains({name.data(), name.size()});
}

const boost::json::value* admin_body::require(std::string_view name)
{
    const boost::json::value* const v = find(name);
    if (v == nullptr) {
        complain(name, "missing");
    }
    return v;
}

void admin_body::complain(std::string_view name, std::string_view what)
{
    if (complaint_.empty()) {
        complaint_ = shortened(name) + ": " + std::string{what};
    }
}

std::string admin_body::as_text(std::string_view name, const boost::json::value& v)
{
    const boost::json::string* const text = v.if_string();
    if (text == nullptr) {
        complain(name, "expected a text");
        return {};
    }
    return {text->data(), text->size()};
}

std::int64_t admin_body::as_whole(
    std::string_view name, const boost::json::value& v, std::int64_t min, std::int64_t max
)
{
    const std::int64_t* const number = v.if_int64();
    if (number == nullptr || *number < min || *number > max) {
        complain(
            name,
            "expected a whole number from " + std::to_string(min) + " to " + std::to_string(max)
        );
        return min;
    }
    return *number;
}

std::string admin_body::text(std::string_view name)
{
    const boost::json::value* const v = require(name);
    return v == nullptr ? std::string{} : as_text(name, *v);
}

std::optional<std::string> admin_body::text_if_any(std::string_view name)
{
    const boost::json::value* const v = find(name);
    return v == nullptr ? std::nullopt : std::optional{as_text(name, *v)};
}

std::int64_t admin_body::whole(std::string_view name, std::int64_t min, std::int64_t max)
{
    const boost::json::value* const v = require(name);
    return v == nullptr ? min : as_whole(name, *v, min, max);
}

std::int64_t admin_body::whole_or(
    std::string_view name, std::int64_t standard, std::int64_t min, std::int64_t max
)
{
    const boost::json::value* const v = find(name);
    return v == nullptr ? standard : as_whole(name, *v, min, max);
}

base::duration admin_body::as_time(
    std::string_view name, const boost::json::value& v, base::duration min, base::duration max
)
{
    const auto* const text = v.if_string();
    const auto read =
        text == nullptr ? std::nullopt : base::parse_duration({text->data(), text->size()});
    if (!read || *read < min || *read > max) {
        const bool any = min == base::duration{0};
        complain(
            name,
            "expected a duration such as \"2s\", " +
                (any ? "" : "at least " + base::format_duration(min) + " and ") + "at most " +
                base::format_duration(max)
        );
    }
    return read.value_or(max);
}

base::duration admin_body::time(std::string_view name, base::duration min, base::duration max)
{
    const boost::json::value* const v = require(name);
    return v == nullptr ? max : as_time(name, *v, min, max);
}

base::duration admin_body::time_or(
    std::string_view name, base::duration standard, base::duration max
)
{
    const boost::json::value* const v = find(name);
    return v == nullptr ? standard : as_time(name, *v, base::duration{0}, max);
}

std::vector<std::string> admin_body::texts(std::string_view name)
{
    std::vector<std::string> all;
    const boost::json::value* const v = require(name);
    if (v != nullptr && !v->is_array()) {
        complain(name, "expected a list of texts");
    } else if (v != nullptr) {
        for (const boost::json::value& one : v->get_array()) {
            all.push_back(as_text(name, one));
        }
    }
    return all;
}

std::vector<std::pair<std::string, std::string>> admin_body::fields_if_any(std::string_view name)
{
    std::vector<std::pair<std::string, std::string>> all;
    const boost::json::value* const v = find(name);
    if (v != nullptr && !v->is_object()) {
        complain(name, "expected an object with texts or lists of texts");
    } else if (v != nullptr) {
        for (const auto& [field, value] : v->get_object()) {
            if (!value.is_array()) {
                all.emplace_back(field, as_text(name, value));
                continue;
            }
            for (const boost::json::value& one : value.get_array()) {
                all.emplace_back(field, as_text(name, one));
            }
        }
    }
    return all;
}

const std::string& admin_body::complaint()
{
    for (const auto& [name, value] : members_) {
        const std::string_view n{name.data(), name.size()};
        if (std::find(known_.begin(), known_.end(), n) == known_.end()) {
            complain(n, "unknown member" + base::suggestion(n, known_));
        }
    }
    return complaint_;
}

}  // namespace gateway::admin
