// A moment as text, in UTC and rendered once a second. Belongs to one thread.
#pragma once

#include "gateway/base/clock.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace gateway::base {

// `Size`: of every text that strftime() makes of the format, whose string must live as long. The
// locale is never set, so names of days and months are English.
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

    // The text that at() returned last; to be called only after at().
    std::string_view last() const { return {text_.data(), Size}; }

private:
    const char* format_;
    // The text and its terminating null.
    std::array<char, Size + 1> text_{};
    // The second of that text, in Unix time; -1: there is none yet.
    std::int64_t second_ = -1;
};

}  // namespace gateway::base
