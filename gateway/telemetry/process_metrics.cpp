#include "gateway/telemetry/process_metrics.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace gateway::telemetry {

namespace {

// Fields of /proc/PID/stat, see proc(5).
struct process_stat {
    double user_ticks = 0;
    double system_ticks = 0;
    double threads = 0;
    double start_ticks = 0;  // Ticks since boot.
    double virtual_bytes = 0;
    double resident_pages = 0;
};

std::optional<process_stat> read_stat()
{
    std::ifstream file("/proc/self/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');  // The name may contain spaces and brackets.
    if (name_end == std::string::npos) {
        return std::nullopt;
    }
    std::istringstream fields(text.substr(name_end + 1));
    process_stat stat;
    std::string skipped;
    for (int field = 3; field <= 24; ++field) {
        switch (field) {
            case 14:
                fields >> stat.user_ticks;
                break;
            case 15:
                fields >> stat.system_ticks;
                break;
            case 20:
                fields >> stat.threads;
                break;
            case 22:
                fields >> stat.start_ticks;
                break;
            case 23:
                fields >> stat.virtual_bytes;
                break;
            case 24:
                fields >> stat.resident_pages;
                break;
            default:
                fields >> skipped;
        }
    }
    return fields ? std::optional{stat} : std::nullopt;
}

std::optional<double> read_boot_time()
{
    std::ifstream file("/proc/stat");
    std::string word;
    double value = 0;
    while (file >> word) {
        if (word == "btime" && file >> value) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<double> count_descriptors()
{
    std::error_code ec;
    std::filesystem::directory_iterator entry("/proc/self/fd", ec);
    double count = -1;  // The descriptor of this directory does not count.
    for (; !ec && entry != std::filesystem::directory_iterator{}; entry.increment(ec)) {
        ++count;
    }
    return ec ? std::nullopt : std::optional{count};
}

}  // namespace

void add_process_metrics(families& all)
{
    if (const auto stat = read_stat()) {
        const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
        add_row(
            all.counter(
                "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."
            ),
            {},
            (stat->user_ticks + stat->system_ticks) / ticks
        );
        add_row(all.gauge("process_threads", "Number of threads."), {}, stat->threads);
        add_row(
            all.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."),
            {},
            stat->virtual_bytes
        );
        add_row(
            all.gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
            {},
            stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE))
        );
        if (const auto boot = read_boot_time()) {
            add_row(
                all.gauge(
                    "process_start_time_seconds",
                    "Start time of the process since unix epoch in seconds."
                ),
                {},
                *boot + stat->start_ticks / ticks
            );
        }
    }
    if (const auto open = count_descriptors()) {
        add_row(all.gauge("process_open_fds", "Number of open file descriptors."), {}, *open);
    }
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        add_row(
            all.gauge("process_max_fds", "Maximum number of open file descriptors."),
            {},
            static_cast<double>(files.rlim_cur)
        );
    }
}

}  // namespace gateway::telemetry
