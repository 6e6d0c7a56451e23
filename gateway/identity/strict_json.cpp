#include "gateway/identity/strict_json.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gateway::identity {

namespace {

namespace json = boost::json;
using boost::json::error_code;

constexpr std::size_t max_depth = 16;

// Counts the members of all objects as they are written, and refuses numbers that are not finite.
class member_counter {
public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    explicit member_counter(std::size_t& members) : members_(members) {}

    bool on_document_begin(error_code&) { return true; }

    bool on_document_end(error_code&) { return true; }

    bool on_object_begin(error_code&) { return true; }

    bool on_object_end(std::size_t size, error_code&)
    {
        members_ += size;
        return true;
    }

    bool on_array_begin(error_code&) { return true; }

    bool on_array_end(std::size_t, error_code&) { return true; }

    bool on_key_part(json::string_view, std::size_t, error_code&) { return true; }

    bool on_key(json::string_view, std::size_t, error_code&) { return true; }

    bool on_string_part(json::string_view, std::size_t, error_code&) { return true; }

    bool on_string(json::string_view, std::size_t, error_code&) { return true; }

    bool on_number_part(json::string_view, error_code&) { return true; }

    bool on_int64(std::int64_t, json::string_view, error_code&) { return true; }

    bool on_uint64(std::uint64_t, json::string_view, error_code&) { return true; }

    bool on_double(double number, json::string_view, error_code& ec)
    {
        if (!std::isfinite(number)) {
            ec = json::error::exponent_overflow;
            return false;
        }
        return true;
    }

    bool on_bool(bool, error_code&) { return true; }

    bool on_null(error_code&) { return true; }

    bool on_comment_part(json::string_view, error_code&) { return true; }

    bool on_comment(json::string_view, error_code&) { return true; }

private:
    std::size_t& members_;
};

// Counts the members that remain after parsing, where the last of each name has won.
std::size_t members_of(const json::value& v)
{
    std::size_t count = 0;
    if (const json::object* object = v.if_object()) {
        count = object->size();
        for (const auto& member : *object) {
            count += members_of(member.value());
        }
    } else if (const json::array* array = v.if_array()) {
        for (const json::value& element : *array) {
            count += members_of(element);
        }
    }
    return count;
}

}  // namespace

std::optional<json::object> parse_strict_json(std::string_view text)
{
    json::parse_options options;
    options.max_depth = max_depth;
    std::size_t members = 0;
    json::basic_parser<member_counter> counting{options, members};
    error_code ec;
    const std::size_t read = counting.write_some(false, text.data(), text.size(), ec);
    if (ec || read != text.size()) {
        return std::nullopt;
    }
    json::value parsed = json::parse({text.data(), text.size()}, ec, {}, options);
    if (ec || !parsed.is_object() || members_of(parsed) != members) {
        return std::nullopt;
    }
    return std::move(parsed.get_object());
}

}  // namespace gateway::identity
