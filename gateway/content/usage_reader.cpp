#include "gateway/content/usage_reader.hpp"

#include <charconv>
#include <limits>

namespace gateway::content {

void usage_reader::found(std::size_t path, kind is, std::string_view text)
{
    std::int64_t number = std::numeric_limits<std::int64_t>::max();
    if (is == kind::large) {
        values_[path] = {number, ++count_};
    } else if (is == kind::integer) {
        std::from_chars(text.data(), text.data() + text.size(), number);
        if (number >= 0) {
            values_[path] = {number, ++count_};
        }
    }
}

void usage_reader::whole(std::string_view text)
{
    if (paths_.may_occur_in(text)) {
        scanner_.read(text);
        text_ended();
    }
}

void usage_reader::text_ended()
{
    scanner_.finish();
    scanner_.reset();
}

}  // namespace gateway::content
