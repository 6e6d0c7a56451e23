#include "gateway/telemetry/exposition.hpp"

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
#include <vector>

namespace gateway::telemetry {

namespace {

// Numbers of fields in proc(5).
constexpr std::size_t user_ticks = 14;
constexpr std::size_t system_ticks = 15;
constexpr std::size_t threads = 20;
constexpr std::size_t start_ticks = 22;  // Ticks since boot.
constexpr std::size_t virtual_bytes = 23;
constexpr std::size_t resident_pages = 24;

// Returns the fields of /proc/self/stat by their numbers, of which those up to 3 are no figures;
// nothing if it cannot be read.
std::vector<double> read_stat()
{
    std::ifstream file("/proc/self/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');  // The name may contain spaces and brackets.
    std::istringstream fields(name_end == std::string::npos ? "" : text.substr(name_end + 1));
    std::string state;
    fields >> state;
    std::vector<double> numbers(4);
    numbers.insert(numbers.end(), std::istream_iterator<double>(fields), {});
    return numbers.size() > resident_pages ? numbers : std::vector<double>{};
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
    if (const auto stat = read_stat(); !stat.empty()) {
        const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
        add_row(
            all.counter(
                "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."
            ),
            (stat[user_ticks] + stat[system_ticks]) / ticks
        );
        add_row(all.gauge("process_threads", "Number of threads."), stat[threads]);
        add_row(
            all.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."),
            stat[virtual_bytes]
        );
        add_row(
            all.gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
            stat[resident_pages] * static_cast<double>(sysconf(_SC_PAGESIZE))
        );
        if (const auto boot = read_boot_time()) {
            add_row(
                all.gauge(
                    "process_start_time_seconds",
                    "Start time of the process since unix epoch in seconds."
                ),
                *boot + stat[start_ticks] / ticks
            );
        }
    }
    if (const auto open = count_descriptors()) {
        add_row(all.gauge("process_open_fds", "Number of open file descriptors."), *open);
    }
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        add_row(
            all.gauge("process_max_fds", "Maximum number of open file descriptors."),
            static_cast<double>(files.rlim_cur)
        );
    }
}

}  // namespace gateway::telemetry
