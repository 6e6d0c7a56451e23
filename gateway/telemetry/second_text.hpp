// A moment as text, rendered once a second. Belongs to one thread.
#pragma once

#include "gateway/base/clock.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace gateway::telemetry {

class second_text {
public:
    // "2026-11-21T02:45:33.123Z" (RFC 3339, UTC).
    void append_iso(std::string& out, base::duration unix_time);

    // "21/Nov/2026:02:45:33 +0000", as in the common log format.
    void append_common(std::string& out, base::duration unix_time);

private:
    std::array<char, 20> iso_{};  // "2026-11-21T02:45:33", with its end
    std::array<char, 27> common_{};
    std::int64_t second_ = -1;  // rendered in both; -1: none yet

    void render(std::int64_t second);
};

}  // namespace gateway::telemetry
