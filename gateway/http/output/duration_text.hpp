// `duration_text` is a time as Go and OpenAI's API write it: 17ms, 1.5s, 6m0s, 1h0m0s.
#pragma once

#include "gateway/base/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::http {

class duration_text {
public:
    // Most bytes of a text.
    static constexpr std::size_t longest = 24;

    // Rounds up to whole milliseconds, so that no reported time is too early. A negative time is
    // 0s.
    explicit duration_text(base::duration d);

    std::string_view text() const { return {room_.data(), size_}; }

private:
    std::array<char, longest> room_{};
    std::size_t size_ = 0;

    void put(std::string_view text);
    void put(std::int64_t number, std::string_view unit);
    void put_fraction(std::int64_t milliseconds);
};

}  // namespace gateway::http
