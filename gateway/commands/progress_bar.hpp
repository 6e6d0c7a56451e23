// `progress_bar` shows on a terminal how far a command has come, and the time that is left.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <ostream>

namespace gateway {

class progress_bar {
public:
    // Shows nothing unless `shows`.
    // Ownership: `out` outlives this object.
    progress_bar(std::ostream& out, bool shows) : out_(out), shows_(shows), began_(base::now()) {}

    // Shows the progress, a few times a second. A size of 0 is unknown.
    void show(std::uint64_t lines, std::uint64_t position, std::uint64_t size);

    // Removes the bar from the terminal.
    void clear();

private:
    static constexpr base::duration pause = std::chrono::milliseconds{200};

    std::ostream& out_;
    bool shows_;
    base::instant began_;
    base::instant last_{};
};

}  // namespace gateway
