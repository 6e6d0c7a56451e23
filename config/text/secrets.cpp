#include "config/text/secrets.hpp"

#include "config/text/problem.hpp"
#include "config/text/text_file.hpp"
#include "gateway/base/chars.hpp"

#include <algorithm>
#include <cstdlib>

namespace gateway::config {
namespace {

constexpr std::size_t longest = 64 * 1024;
// Shortest text that is masked without quotes. A shorter one stands in messages by chance.
constexpr std::size_t shortest_unquoted = 6;

void replace_all(std::string& text, const std::string& from)
{
    constexpr std::string_view mask = "***";
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + mask.size())) {
        text.replace(at, from.size(), mask);
    }
}

}  // namespace

void secrets::read_beside(std::string_view file_name)
{
    folder_ = file_name.substr(0, file_name.rfind('/') + 1);
}

secrets::given secrets::of_variable(const std::string& name, lines may_have)
{
    const char* const value = std::getenv(name.c_str());
    const std::string what = "the environment variable " + quote(name);
    return value == nullptr ? given{.complaint = what + " is not set"}
                            : keep(value, what, may_have);
}

secrets::given secrets::of_file(const std::string& path, lines may_have)
{
    text_file file = read_text_file(path.starts_with('/') ? path : folder_ + path, longest);
    if (!file.complaint.empty()) {
        return {.complaint = quote(path) + ' ' + file.complaint};
    }
    return keep(std::move(file.text), quote(path), may_have);
}

secrets::given secrets::keep(std::string text, const std::string& what, lines may_have)
{
    text = without_line_end(std::move(text));
    if (text.empty()) {
        return {.complaint = what + " is empty"};
    }
    const auto is_bad = [may_have](char c) {
        const bool is_of_lines = c == '\n' || c == '\r' || c == '\t';
        return base::is_control(c) && !(is_of_lines && may_have == lines::many);
    };
    if (text.size() > longest || std::any_of(text.begin(), text.end(), is_bad)) {
        const char* const bad = may_have == lines::many ? " or" : ", a line break or";
        return {.complaint = what + " holds more than 64 KiB" + bad + " a control character"};
    }
    return {.text = &texts_.emplace_back(std::move(text))};
}

std::string secrets::masked(std::string message) const
{
    for (const std::string& text : texts_) {
        replace_all(message, quote(text));
        if (text.size() >= shortest_unquoted) {
            replace_all(message, text);
        }
    }
    return message;
}

std::string with_query_hidden(const std::string& url)
{
    const std::size_t query = url.find('?');
    return query == std::string::npos ? url : url.substr(0, query) + "?***";
}

}  // namespace gateway::config
