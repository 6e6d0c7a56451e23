// `date_line` holds the field Date (RFC 9110 §6.6.1) as a whole line.
// Thread: one thread only.
#pragma once

#include "gateway/base/utc_text.hpp"

#include <string_view>

namespace gateway::http {

class date_line {
public:
    explicit date_line(base::duration unix_time) { refresh(unix_time); }

    void refresh(base::duration unix_time) { line_.at(unix_time); }

    // Returns the line "Date: Sun, 06 Nov 1994 08:49:37 GMT" with its CRLF.
    std::string_view text() const { return line_.last(); }

    // Returns the value alone, without name and CRLF.
    std::string_view value() const { return text().substr(6, 29); }

private:
    base::utc_text<37> line_{"Date: %a, %d %b %Y %H:%M:%S GMT\r\n"};
};

}  // namespace gateway::http
