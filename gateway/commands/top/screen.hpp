// `draw_screen` writes what `gateway top` shows, for a terminal of any size. Pure.
#pragma once

#include "gateway/commands/top/figures.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

struct screen_options {
    std::size_t width = 80;
    std::size_t height = 24;
    bool colour = false;
};

// Returns at most `height` lines of at most `width` characters, not counting the sequences that
// colour them. `link` is the state of the connection: "live", or what is wrong with it.
std::vector<std::string> draw_screen(
    const top_figures& of,
    std::string_view address,
    std::string_view link,
    const screen_options& how
);

}  // namespace gateway
