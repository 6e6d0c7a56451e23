#include "gateway/replay/logs/line_words.hpp"

#include "gateway/base/hex.hpp"

namespace gateway::replay {

void split_absolute_target(std::string_view& target, std::string_view& host)
{
    const std::size_t scheme = target.find("://");
    if (target.starts_with('/') || scheme == target.npos) {
        return;
    }
    const std::size_t begin = scheme + 3;
    const std::size_t path = target.find_first_of("/?", begin);
    host = target.substr(begin, path == target.npos ? path : path - begin);
    target = path == target.npos ? std::string_view{"/"} : target.substr(path);
}

std::string_view unescape(std::string_view text, char* in_place)
{
    char* to = in_place;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            *to++ = text[i];
            continue;
        }
        ++i;
        if (const int byte = base::marked_byte('x', text.substr(i)); byte >= 0) {
            *to++ = static_cast<char>(byte);
            i += 2;
        } else {
            *to++ = text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i] == 'r' ? '\r' : text[i];
        }
    }
    return {in_place, static_cast<std::size_t>(to - in_place)};
}

}  // namespace gateway::replay
