// `http_date` holds the present moment as the value of the field Date (RFC 9110 §6.6.1).
// Thread: one thread only.
#pragma once

#include "gateway/base/utc_text.hpp"

#include <string_view>

namespace gateway::http {

class http_date {
public:
    explicit http_date(base::duration unix_time) { refresh(unix_time); }

    void refresh(base::duration unix_time) { text_.at(unix_time); }

    // Returns a text such as "Sun, 06 Nov 1994 08:49:37 GMT".
    std::string_view text() const { return text_.last(); }

private:
    base::utc_text<29> text_{"%a, %d %b %Y %H:%M:%S GMT"};
};

}  // namespace gateway::http
