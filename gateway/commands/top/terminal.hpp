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
    // Takes over the screen of a terminal. With `once`, only one picture is shown, in plain lines.
    explicit terminal(bool once);
    // Gives the screen back.
    ~terminal();

    // Gives the screen back while the process is stopped, and takes it over again.
    void give_back() const;
    void take_over() const;

    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    // Returns the present size, and if colours are shown: on a terminal, unless NO_COLOR is set.
    screen_options options() const;

    // Shows the lines in place of those before, or below them if there is no screen.
    // Errors: returns false if they could not be written.
    [[nodiscard]] bool show(const std::vector<std::string>& lines) const;

    // True if somebody can press keys.
    bool has_keys() const { return keys_ >= 0; }

    // Returns a descriptor that reads keys. It belongs to this object, and shares no state with the
    // standard streams: it may be made non-blocking, although they may not.
    // Requires: has_keys().
    int keys() const { return keys_; }

private:
    bool has_screen_;
    bool has_colour_;
    int keys_ = -1;
    termios before_{};
    termios raw_{};
};

}  // namespace gateway
