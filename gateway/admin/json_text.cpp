#include "gateway/admin/json_text.hpp"

#include "gateway/base/utf8.hpp"

#include <boost/json.hpp>

#include <array>
#include <charconv>
#include <string_view>

namespace gateway::admin {

namespace {

// Longest number that is written. The largest double has 309 digits before the point.
constexpr std::size_t longest_number = 400;

void append_json_double(std::string& out, double number)
{
    std::array<char, longest_number> room;
    const char* const end =
        std::to_chars(room.data(), room.data() + room.size(), number, std::chars_format::fixed).ptr;
    const std::string_view text{room.data(), static_cast<std::size_t>(end - room.data())};
    out.append(text).append(text.find('.') == std::string_view::npos ? ".0" : "");
}

void append_json_value(std::string& out, const boost::json::value& v)
{
    const char* separator = "";
    if (const boost::json::object* const object = v.if_object()) {
        out += '{';
        for (const auto& member : *object) {
            out.append(separator).append(boost::json::serialize(member.key())).append(":");
            append_json_value(out, member.value());
            separator = ",";
        }
        out += '}';
    } else if (const boost::json::array* const array = v.if_array()) {
        out += '[';
        for (const boost::json::value& element : *array) {
            out.append(separator);
            append_json_value(out, element);
            separator = ",";
        }
        out += ']';
    } else if (const double* const number = v.if_double()) {
        append_json_double(out, *number);
    } else if (const boost::json::string* const text = v.if_string()) {
        out += boost::json::serialize(boost::json::string(base::as_utf8(*text)));
    } else {
        out += boost::json::serialize(v);
    }
}

}  // namespace

std::string json_text(const boost::json::value& v)
{
    std::string text;
    append_json_value(text, v);
    return text;
}

}  // namespace gateway::admin
