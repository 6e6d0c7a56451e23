// load: plays all clients and the upstream of several running proxies, and measures them in turn.
//   load --upstream PORT --body BYTES --connections N --once 0|1 --keys N --cycles N --seconds S
//        --rate R NAME:PORT:PID[+PID...]...
// Every cycle gives each proxy one slice, in alternating order, so that one cycle compares all of
// them on the same state of the machine. Prints one line of CSV per slice.
#include "slice.hpp"
#include "upstream.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <vector>

namespace bench {
namespace {

struct proxy {
    std::string name;
    std::uint16_t port = 0;
    std::vector<pid_t> processes;
    std::vector<std::unique_ptr<client>> clients;
};

struct arguments {
    std::map<std::string, double> numbers;
    std::vector<proxy> proxies;

    [[nodiscard]] double number(const std::string& name) const
    {
        const auto found = numbers.find(name);
        return found == numbers.end() ? 0 : found->second;
    }
};

proxy parse_proxy(const std::string& text)
{
    std::istringstream in{text};
    proxy result;
    std::string port;
    std::string process;
    std::getline(in, result.name, ':');
    std::getline(in, port, ':');
    result.port = static_cast<std::uint16_t>(std::stoi(port));
    while (std::getline(in, process, '+')) {
        result.processes.push_back(std::stoi(process));
    }
    return result;
}

arguments parse(int argc, char** argv)
{
    arguments result;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.starts_with("--") && i + 1 < argc) {
            result.numbers[word.substr(2)] = std::stod(argv[++i]);
        } else {
            result.proxies.push_back(parse_proxy(word));
        }
    }
    return result;
}

double percentile(std::vector<std::uint32_t>& values, double share)
{
    if (values.empty()) {
        return 0;
    }
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)] / 1e3;
}

measurement measure(loop& in, const proxy& subject, const load_options& options)
{
    std::vector<client*> clients;
    for (const auto& each : subject.clients) {
        clients.push_back(each.get());
    }
    return slice{in, std::move(clients), subject.processes, options}.run();
}

void print(int cycle, const proxy& subject, measurement& m)
{
    std::printf(
        "%d,%s,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%.1f,%.1f\n",
        cycle,
        subject.name.c_str(),
        m.requests(),
        m.allowed,
        m.rejected,
        m.failed,
        m.used.wall,
        m.used.cpu,
        m.used.user,
        m.used.system,
        m.used.generator,
        percentile(m.latencies, 0.5),
        percentile(m.latencies, 0.99)
    );
    std::fflush(stdout);
}

void run(arguments& given)
{
    loop loop;
    const upstream upstream{
        loop,
        static_cast<std::uint16_t>(given.number("upstream")),
        static_cast<std::size_t>(given.number("body"))};
    const auto use = given.number("once") != 0 ? connection_use::once : connection_use::keep;
    for (proxy& each : given.proxies) {
        for (int i = 0; i < static_cast<int>(given.number("connections")); ++i) {
            each.clients.push_back(std::make_unique<client>(loop, each.port, use));
        }
    }
    load_options options;
    options.rate = given.number("rate");
    options.keys = std::max(1U, static_cast<std::uint32_t>(given.number("keys")));
    options.measured = nanoseconds{static_cast<std::int64_t>(given.number("seconds") * 1e9)};
    std::printf(
        "cycle,proxy,requests,allowed,rejected,failed,wall_ns,cpu_ns,user_ticks,system_ticks,"
        "generator_ns,p50_us,p99_us\n"
    );
    for (int cycle = -1; cycle < static_cast<int>(given.number("cycles")); ++cycle) {
        for (const proxy& each : given.proxies) {
            measurement result = measure(loop, each, options);
            if (cycle >= 0) {  // the first round opens the connections to the upstream
                print(cycle, each, result);
            }
        }
        std::reverse(given.proxies.begin(), given.proxies.end());
    }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv)
{
    bench::allow_many_files();
    prctl(PR_SET_TIMERSLACK, 1);  // the open loop's schedule is in microseconds
    bench::arguments given = bench::parse(argc, argv);
    bench::run(given);
}
