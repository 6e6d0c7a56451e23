#include "config/text/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sys/stat.h>
#include <system_error>

namespace gateway::config {
namespace {

struct close_text_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

text_file not_read(const std::error_code& why)
{
    return {.text = {}, .complaint = "cannot be read: " + why.message()};
}

}  // namespace

text_file read_text_file(const std::string& path, std::size_t max)
{
    struct stat status {};

    if (::stat(path.c_str(), &status) != 0) {
        return not_read({errno, std::generic_category()});
    }
    if (!S_ISREG(status.st_mode)) {
        return {.text = {}, .complaint = "cannot be read: it is no regular file"};
    }
    const std::unique_ptr<std::FILE, close_text_file> file{std::fopen(path.c_str(), "rb")};
    if (!file) {
        return not_read({errno, std::generic_category()});
    }
    // One byte more than `max` shows that the file is too large.
    text_file read;
    std::array<char, 64 * 1024> piece;
    while (read.text.size() <= max) {
        const std::size_t wanted = std::min(piece.size(), max + 1 - read.text.size());
        const std::size_t got = std::fread(piece.data(), 1, wanted, file.get());
        read.text.append(piece.data(), got);
        if (got < wanted) {
            break;
        }
    }
    if (std::ferror(file.get()) != 0) {
        return not_read({errno, std::generic_category()});
    }
    if (read.text.size() > max) {
        read.complaint = "is larger than " + std::to_string(max) + " bytes";
    }
    return read;
}

std::string without_line_end(std::string text)
{
    for (const char end : {'\n', '\r'}) {
        if (text.ends_with(end)) {
            text.pop_back();
        }
    }
    return text;
}

}  // namespace gateway::config
