#include "gateway/commands/top/screen.hpp"

#include "gateway/commands/top/rows.hpp"

#include <algorithm>
#include <utility>

namespace gateway {

namespace {

// `block` is a group of lines with a title. Lines are left out from its end if there is no room.
struct block {
    std::vector<top_line> lines;
    // Lines that are shown whatever is left out of other blocks.
    std::size_t least = 2;
};

std::string cut(const top_line& line, const screen_options& how)
{
    std::string text = line.text.substr(0, how.width);
    if (!how.colour || line.look == top_look::plain) {
        return text;
    }
    const char* const begin = line.look == top_look::title  ? "\x1b[1m"
                              : line.look == top_look::good ? "\x1b[32m"
                                                            : "\x1b[31m";
    return begin + text + "\x1b[0m";
}

// Returns how many lines of each block are shown: first the least of each, then the others in turn.
std::vector<std::size_t> shares(const std::vector<block>& blocks, std::size_t height)
{
    std::vector<std::size_t> given;
    std::size_t left = height;
    for (const block& b : blocks) {
        given.push_back(std::min({b.lines.size(), b.least, left}));
        left -= given.back();
    }
    bool more = true;
    while (left > 0 && more) {
        more = false;
        for (std::size_t i = 0; i < blocks.size() && left > 0; ++i) {
            if (given[i] < blocks[i].lines.size()) {
                ++given[i];
                --left;
                more = true;
            }
        }
    }
    return given;
}

}  // namespace

std::vector<std::string> draw_screen(
    const top_figures& of,
    std::string_view address,
    std::string_view link,
    const screen_options& how
)
{
    std::vector<block> blocks;
    blocks.push_back({{head_line(of, address, link)}, 1});
    if (of.any()) {
        blocks.push_back({finding_lines(of, how.width), 3});
        blocks.push_back({request_lines(of, how.width), 3});
        blocks.push_back({limit_lines(of)});
        blocks.push_back({store_lines(of)});
        blocks.push_back({server_lines(of)});
        blocks.push_back({rejection_lines(of), 3});
    }
    const std::vector<std::size_t> given = shares(blocks, how.height);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        for (std::size_t n = 0; n < given[i]; ++n) {
            lines.push_back(cut(blocks[i].lines[n], how));
        }
    }
    return lines;
}

}  // namespace gateway
