// `log_lines` splits a log into lines.
// Thread: one thread only.
#pragma once

#include "gateway/replay/logs/compressed_bytes.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace gateway::replay {

class log_lines {
public:
    // Longest line, in bytes. A longer one is returned as its first `longest` + 1 bytes: its size
    // tells that it is cut.
    static constexpr std::size_t longest = std::size_t{64} * 1024;

    explicit log_lines(const std::string& path) : bytes_(path), buffer_(new char[buffer_bytes]) {}

    struct line {
        // The line without its end, valid until the next call.
        std::span<char> text{};
        // False for a last line without an end, which somebody may still be writing.
        bool ended = true;
    };

    // Returns the next line, or nothing at the end.
    std::optional<line> next();

    const compressed_bytes& bytes() const { return bytes_; }

private:
    static constexpr std::size_t kept = longest + 1;
    static constexpr std::size_t buffer_bytes = 2 * longest;

    compressed_bytes bytes_;
    std::unique_ptr<char[]> buffer_;
    // Bytes of the buffer that are filled, and where the next line begins.
    std::size_t filled_ = 0;
    std::size_t at_ = 0;

    bool fill();
    line cut_line();
};

}  // namespace gateway::replay
