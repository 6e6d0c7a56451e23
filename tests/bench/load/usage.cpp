#include "usage.hpp"

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <unistd.h>

namespace bench {

namespace {

std::uint64_t read(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t cpu_of(pid_t process)
{
    clockid_t clock{};
    return clock_getcpuclockid(process, &clock) == 0 ? read(clock) : 0;
}

void add_ticks_of(pid_t process, usage& to)
{
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    const std::string line{std::istreambuf_iterator<char>{file}, {}};
    const std::size_t name_end = line.rfind(')');  // the name may hold blanks
    if (name_end == std::string::npos) {
        return;
    }
    std::istringstream fields{line.substr(name_end + 1)};
    std::string skipped;
    for (int i = 0; i < 11; ++i) {  // state to cmajflt
        fields >> skipped;
    }
    std::uint64_t user = 0;
    std::uint64_t system = 0;
    fields >> user >> system;
    to.user += user;
    to.system += system;
}

}  // namespace

std::uint64_t now()
{
    return read(CLOCK_MONOTONIC);
}

usage used_by(const std::vector<pid_t>& processes)
{
    usage sum;
    for (const pid_t process : processes) {
        add_ticks_of(process, sum);
        sum.cpu += cpu_of(process);
    }
    sum.generator = cpu_of(getpid());
    sum.wall = now();
    return sum;
}

usage operator-(const usage& end, const usage& begin)
{
    return {
        .wall = end.wall - begin.wall,
        .cpu = end.cpu - begin.cpu,
        .user = end.user - begin.user,
        .system = end.system - begin.system,
        .generator = end.generator - begin.generator};
}

}  // namespace bench
