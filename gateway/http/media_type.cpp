#include "gateway/http/media_type.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace gateway::http {

namespace {

constexpr std::array<std::string_view, 4> line_types{
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"};

// Returns true if parameters of a type name no character set but UTF-8.
bool is_utf8(std::string_view parameters)
{
    while (!parameters.empty()) {
        const std::size_t end = std::min(parameters.find(';'), parameters.size());
        const std::string_view one = base::trimmed(parameters.substr(0, end));
        parameters.remove_prefix(std::min(end + 1, parameters.size()));
        const std::size_t equals = std::min(one.find('='), one.size());
        if (!base::equal_ignoring_case(base::trimmed(one.substr(0, equals)), "charset")) {
            continue;
        }
        std::string_view value = base::trimmed(one.substr(std::min(equals + 1, one.size())));
        if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
            value = value.substr(1, value.size() - 2);
        }
        if (!base::equal_ignoring_case(value, "utf-8") &&
            !base::equal_ignoring_case(value, "utf8")) {
            return false;
        }
    }
    return true;
}

// Messages of gRPC have a prefix each, so that their content is no JSON as a whole.
bool ends_in_json(std::string_view type)
{
    constexpr std::string_view ending = "+json";
    constexpr std::string_view grpc = "application/grpc";
    return type.size() > ending.size() &&
           base::equal_ignoring_case(type.substr(type.size() - ending.size()), ending) &&
           !base::equal_ignoring_case(type.substr(0, grpc.size()), grpc);
}

media_type type_named(std::string_view value)
{
    const std::size_t end = std::min(value.find(';'), value.size());
    const std::string_view type = base::trimmed(value.substr(0, end));
    if (!is_utf8(value.substr(std::min(end + 1, value.size())))) {
        return media_type::other;
    }
    const auto is = [type](std::string_view name) { return base::equal_ignoring_case(type, name); };
    if (is("application/json") || ends_in_json(type)) {
        return media_type::json;
    }
    if (std::any_of(line_types.begin(), line_types.end(), is)) {
        return media_type::json_lines;
    }
    return is("text/event-stream") ? media_type::event_stream : media_type::other;
}

}  // namespace

bool is_coded(std::span<const field> fields)
{
    return std::any_of(fields.begin(), fields.end(), [](const field& f) {
        return reads_as(f.name, "content-encoding") &&
               !base::equal_ignoring_case(base::trimmed(f.value), "identity");
    });
}

media_type read_media_type(std::span<const field> fields)
{
    std::optional<media_type> type;
    for (const field& f : fields) {
        if (reads_as(f.name, "content-type")) {
            type = type ? media_type::other : type_named(f.value);
        }
    }
    return is_coded(fields) ? media_type::other : type.value_or(media_type::other);
}

}  // namespace gateway::http
