#include "gateway/commands/top/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gateway {

namespace {

// Height of a picture in plain lines, and its width if it goes to no terminal.
constexpr std::size_t plain_height = 200;
constexpr std::size_t plain_width = 120;

bool is_dumb(const char* terminal)
{
    return terminal == nullptr || std::string_view{terminal} == "dumb";
}

bool write_all(std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

}  // namespace

terminal::terminal(bool once)
{
    const bool is_terminal = ::isatty(STDOUT_FILENO) == 1 && !is_dumb(std::getenv("TERM"));
    const char* const no_color = std::getenv("NO_COLOR");
    has_screen_ = is_terminal && !once;
    has_colour_ = is_terminal && (no_color == nullptr || *no_color == '\0');
    if (has_screen_ && ::isatty(STDIN_FILENO) == 1) {
        keys_ = ::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    }
    if (has_keys()) {
        ::tcgetattr(keys_, &before_);
        raw_ = before_;
        raw_.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    }
    take_over();
}

terminal::~terminal()
{
    give_back();
    if (has_keys()) {
        ::close(keys_);
    }
}

void terminal::take_over() const
{
    if (has_screen_) {
        // The other screen, without a cursor.
        write_all("\x1b[?1049h\x1b[?25l");
    }
    if (has_keys()) {
        ::tcsetattr(keys_, TCSANOW, &raw_);
    }
}

void terminal::give_back() const
{
    if (has_keys()) {
        ::tcsetattr(keys_, TCSANOW, &before_);
    }
    if (has_screen_) {
        write_all("\x1b[?25h\x1b[?1049l");
    }
}

screen_options terminal::options() const
{
    screen_options how{.colour = has_colour_};
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    if (known) {
        how.width = size.ws_col;
        how.height = size.ws_row;
    }
    if (!has_screen_) {
        how.height = plain_height;
        how.width = known ? how.width : plain_width;
    }
    return how;
}

bool terminal::show(const std::vector<std::string>& lines) const
{
    std::string text = has_screen_ ? "\x1b[H" : "";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += lines[i];
        // Erases what is left of the line before. No line break follows the last line, which would
        // move the screen.
        text += !has_screen_ ? "\n" : i + 1 < lines.size() ? "\x1b[K\r\n" : "\x1b[K";
    }
    text += has_screen_ ? "\x1b[J" : "\n";
    return write_all(text);
}

}  // namespace gateway
