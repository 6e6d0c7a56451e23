// `terminal` is the standard output of `gateway top`: a terminal whose screen is taken over and
// given back, or a file or pipe that gets plain lines.
#pragma once

#include "gateway/commands/top/screen.hpp"

#include <string>
#include <termios.h>
#include <vector>

namespace gateway {

class terminal {
public:
    // Takes over the screen of a terminal, unless only one picture is to be `once`.
    explicit terminal(bool once);
    // Gives the screen back.
    ~terminal();

    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    // Returns the present size, and if colours are shown: on a terminal, unless NO_COLOR is set.
    screen_options options() const;

    // Shows the lines in place of those before, or below them if there is no screen.
    // Errors: returns false if they could not be written.
    [[nodiscard]] bool show(const std::vector<std::string>& lines) const;

    // True if keys can be read from the standard input.
    bool has_keys() const { return has_keys_; }

private:
    bool has_screen_;
    bool has_colour_;
    bool has_keys_ = false;
    termios before_{};
};

}  // namespace gateway
