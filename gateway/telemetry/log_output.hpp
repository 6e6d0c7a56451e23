// `log_output` is where lines of requests are written: a descriptor, a file or a syslog server.
// Thread: one at a time.
#pragma once

#include "gateway/telemetry/options.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::telemetry {

class log_output {
public:
    log_output() = default;
    virtual ~log_output() = default;
    log_output(const log_output&) = delete;
    log_output& operator=(const log_output&) = delete;

    // Descriptor that can be waited for.
    virtual int fd() const = 0;

    // Writes a part of the lines, one byte or more. Returns how many bytes of them are done with: 0
    // if the output takes none at the moment, and less than 0 if it fails.
    virtual std::ptrdiff_t write(std::string_view lines) = 0;
};

// Writes to a descriptor, which it does not own.
std::unique_ptr<log_output> output_to(int fd);

// `opened_output` is an output, or the reason why there is none.
struct opened_output {
    std::unique_ptr<log_output> output;
    std::string complaint{};
};

// Opens the target. A file is made with mode 0640 if it is missing, and written at its end.
opened_output open_output(const log_target& target);

// Returns the same output.
// Errors: throws std::runtime_error if it cannot be opened.
std::unique_ptr<log_output> required_output(const log_target& target);

}  // namespace gateway::telemetry
