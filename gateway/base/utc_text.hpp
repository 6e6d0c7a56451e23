// `utc_text` formats a moment as text in UTC, at most once a second.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace gateway::base {

// `Size` is the length of every text that strftime() makes of the format. The locale is never set,
// so that names of days and months are English.
// Requires: the string of the format outlives the object.
template <std::size_t Size>
class utc_text {
public:
    constexpr explicit utc_text(const char* format) : format_(format) {}

    std::string_view at(duration unix_time)
    {
        const auto second = std::chrono::floor<std::chrono::seconds>(unix_time).count();
        if (second != second_) {
            second_ = second;
            const std::time_t time{second};
            std::tm utc{};
            gmtime_r(&time, &utc);
            std::strftime(text_.data(), text_.size(), format_, &utc);
        }
        return last();
    }

    // Returns the text that at() returned last.
    // Requires: at() has been called.
    std::string_view last() const { return {text_.data(), Size}; }

private:
    const char* format_;
    // The text with its terminating null.
    std::array<char, Size + 1> text_{};
    // The second of that text in Unix time; -1 if there is no text yet.
    std::int64_t second_ = -1;
};

}  // namespace gateway::base
