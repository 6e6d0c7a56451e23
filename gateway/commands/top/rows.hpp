// The functions here write the lines of `gateway top`, one function for each kind of thing. Pure.
// Every text that comes from the gateway is made safe for a terminal.
#pragma once

#include "gateway/commands/top/figures.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

enum class top_look : std::uint8_t { plain, title, good, bad };

struct top_line {
    std::string text;
    top_look look = top_look::plain;
};

top_line head_line(const top_figures& of, std::string_view address, std::string_view link);

// Lists what is wrong, in lines of at most `width` characters.
std::vector<top_line> finding_lines(const top_figures& of, std::size_t width);

std::vector<top_line> request_lines(const top_figures& of, std::size_t width);
std::vector<top_line> limit_lines(const top_figures& of);
std::vector<top_line> store_lines(const top_figures& of);
std::vector<top_line> server_lines(const top_figures& of);
std::vector<top_line> rejection_lines(const top_figures& of);

}  // namespace gateway
