// `second_text` formats a moment for the logs.
// Thread: one.
#pragma once

#include "gateway/base/utc_text.hpp"

#include <string>

namespace gateway::telemetry {

class second_text {
public:
    // Appends "2026-11-21T02:45:33.123Z" (RFC 3339, UTC).
    void append_iso(std::string& out, base::duration unix_time);

    // Appends "21/Nov/2026:02:45:33 +0000", as in the common log format.
    void append_common(std::string& out, base::duration unix_time);

private:
    base::utc_text<19> iso_{"%Y-%m-%dT%H:%M:%S"};
    base::utc_text<26> common_{"%d/%b/%Y:%H:%M:%S +0000"};
};

}  // namespace gateway::telemetry
