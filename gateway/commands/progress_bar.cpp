#include "gateway/commands/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace gateway {

namespace {

std::string minutes_and_seconds(std::int64_t seconds)
{
    const std::string rest = std::to_string(seconds % 60);
    return std::to_string(seconds / 60) + (rest.size() < 2 ? ":0" : ":") + rest;
}

// Returns the line for a command that has run for so long.
std::string progress_text(
    std::uint64_t lines, std::uint64_t position, std::uint64_t size, base::duration elapsed
)
{
    std::string count = std::to_string(lines / 1000) + "k lines";
    if (size == 0 || position == 0) {
        return count;
    }
    constexpr std::size_t width = 40;
    const double done = static_cast<double>(std::min(position, size)) / static_cast<double>(size);
    const auto filled = static_cast<std::size_t>(done * width);
    const double seconds = static_cast<double>(elapsed.count()) / 1e9;
    const auto left = std::llround(seconds / done - seconds);
    const auto percent = static_cast<int>(done * 100);
    return '[' + std::string(filled, '#') + std::string(width - filled, '.') + "] " +
           std::to_string(percent) + " %, " + minutes_and_seconds(left) + " left, " + count;
}

}  // namespace

void progress_bar::show(std::uint64_t lines, std::uint64_t position, std::uint64_t size)
{
    if (!shows_) {
        return;
    }
    const base::instant now = base::now();
    if (now - last_ < pause) {
        return;
    }
    last_ = now;
    // Clears the rest of the line.
    out_ << '\r' << progress_text(lines, position, size, now - began_) << "\033[K" << std::flush;
}

void progress_bar::clear()
{
    if (shows_ && last_ != base::instant{}) {
        out_ << "\r\033[K" << std::flush;
    }
}

}  // namespace gateway
