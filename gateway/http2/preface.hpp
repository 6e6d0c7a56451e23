// `preface` recognises the bytes with which a client begins HTTP/2 (RFC 9113 §3.4), however they
// are split. It needs one byte of memory, as what has come so far is known. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace gateway::http2 {

class preface {
public:
    static constexpr std::string_view text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    enum class verdict { incomplete, http2, other };

    // Looks at the next bytes. They are counted as a part of the preface if it is still incomplete.
    verdict read(std::string_view bytes)
    {
        const std::string_view rest = text.substr(seen_);
        const std::size_t n = std::min(rest.size(), bytes.size());
        if (bytes.substr(0, n) != rest.substr(0, n)) {
            return verdict::other;
        }
        if (n == rest.size()) {
            return verdict::http2;
        }
        seen_ = static_cast<std::uint8_t>(seen_ + n);
        return verdict::incomplete;
    }

    // Returns what came before the last read().
    std::string_view before() const { return text.substr(0, seen_); }

private:
    std::uint8_t seen_ = 0;
};

}  // namespace gateway::http2
