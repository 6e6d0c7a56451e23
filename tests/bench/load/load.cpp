// load: plays all clients and the upstream of several running proxies, and measures them in turn.
//   load --upstream PORT --body BYTES --connections N --once 0|1 --keys N --cycles N --seconds S
//        --rate R --tls 0|1|2 [--sent BYTES] [--events N] [--upstream_pem FILE]
//        NAME:PORT:PID[+PID...][:ATTACK:CONNECTIONS:RATE]...
// Every cycle gives each proxy one slice, in alternating order, so that one cycle compares all of
// them on the same state of the machine. Who is to be attacked is so in its own slices only. Prints
// one line of CSV per slice. With TLS, clients shake hands anew (1) or come back (2); the upstream
// speaks it if there is a file with its certificate and key. With `sent`, clients post messages of
// so many bytes; with `events`, the upstream answers with streams of so many.
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
    attack_options attacked;  // no connections: it is not
    client_tls tls;
    std::vector<std::unique_ptr<client>> clients;
    std::unique_ptr<attack> attacker;
};

struct arguments {
    std::map<std::string, double> numbers;
    std::string upstream_pem;
    std::vector<proxy> proxies;

    [[nodiscard]] double number(const std::string& name) const
    {
        const auto found = numbers.find(name);
        return found == numbers.end() ? 0 : found->second;
    }
};

std::vector<std::string> split(const std::string& text, char at)
{
    std::istringstream in{text};
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, at);) {
        parts.push_back(part);
    }
    return parts;
}

proxy parse_proxy(const std::string& text)
{
    const std::vector<std::string> parts = split(text, ':');
    proxy result;
    result.name = parts.at(0);
    result.port = static_cast<std::uint16_t>(std::stoi(parts.at(1)));
    for (const std::string& process : split(parts.at(2), '+')) {
        result.processes.push_back(std::stoi(process));
    }
    if (parts.size() > 3) {
        result.attacked = {parts.at(3), std::stoul(parts.at(4)), std::stod(parts.at(5))};
    }
    return result;
}

arguments parse(int argc, char** argv)
{
    arguments result;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.starts_with("--") && i + 1 < argc) {
            if (word == "--upstream_pem") {
                result.upstream_pem = argv[++i];
            } else {
                result.numbers[word.substr(2)] = std::stod(argv[++i]);
            }
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

measurement measure(loop& in, const proxy& subject, load_options options)
{
    options.beside = subject.attacker.get();
    std::vector<client*> clients;
    for (const auto& each : subject.clients) {
        clients.push_back(each.get());
    }
    measurement result = slice{in, std::move(clients), subject.processes, options}.run();
    if (subject.attacker != nullptr) {
        subject.attacker->check();
    }
    return result;
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
        {.port = static_cast<std::uint16_t>(given.number("upstream")),
         .body = static_cast<std::size_t>(given.number("body")),
         .events = static_cast<std::size_t>(given.number("events")),
         .tls = given.upstream_pem.empty() ? nullptr : server_settings(given.upstream_pem)}};
    const auto use = given.number("once") != 0 ? connection_use::once : connection_use::keep;
    for (proxy& each : given.proxies) {
        if (given.number("tls") > 0) {
            each.tls = {client_settings(), given.number("tls") > 1};
        }
        if (each.attacked.connections > 0) {  // before its clients, who are to find room even so
            each.attacker = std::make_unique<attack>(each.port, each.attacked);
        }
        for (int i = 0; i < static_cast<int>(given.number("connections")); ++i) {
            each.clients.push_back(
                std::make_unique<client>(loop, each.port, use, each.tls, given.number("sent"))
            );
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
    for (const proxy& each : given.proxies) {
        if (each.tls.returns) {
            std::fprintf(
                stderr,
                "%s: %.1f%% of %lu connections went on with a session\n",
                each.name.c_str(),
                100.0 * static_cast<double>(each.tls.resumed) /
                    static_cast<double>(each.tls.shaken),
                each.tls.shaken
            );
        }
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
