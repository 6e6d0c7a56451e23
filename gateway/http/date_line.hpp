// The field Date (RFC 9110 §6.6.1) as a whole line, rendered once a second. Belongs to one thread.
#pragma once

#include "gateway/base/clock.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::http {

class date_line {
public:
    explicit date_line(base::duration unix_time) { refresh(unix_time); }

    void refresh(base::duration unix_time);

    // "Date: Sun, 06 Nov 1994 08:49:37 GMT" CRLF.
    std::string_view text() const { return {text_.data(), text_.size() - 1}; }

    std::string_view value() const { return text().substr(6, 29); }  // without name and CRLF

private:
    std::array<char, 38> text_{};  // with its end
    std::int64_t second_ = -1;
};

}  // namespace gateway::http
