#include "gateway/telemetry/log.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/diagnostics.hpp"

#include <unistd.h>

namespace gateway::telemetry {

static diagnostics& the_diagnostics()
{
    static diagnostics one(STDERR_FILENO);
    return one;
}

void configure_log(const log_options& options)
{
    the_diagnostics().configure(options);
}

void log(log_level level, std::string_view text)
{
    the_diagnostics().write(level, text, base::now());
}

void log_outcome(log_level level, std::string_view text)
{
    the_diagnostics().write_outcome(level, text, base::now());
}

void report_suppressed_lines()
{
    the_diagnostics().report_suppressed(base::now());
}

}  // namespace gateway::telemetry
