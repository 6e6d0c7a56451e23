#include "gateway/process/process_start.hpp"

#include "gateway/process/signals.hpp"
#include "gateway/process/upgrade_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gateway {

namespace {

constexpr int cannot_start = 127;
constexpr std::string_view pid_variable = "LISTEN_PID=";

// `start_plan` is all that is needed between fork() and execve(), where no memory may be allocated.
struct start_plan {
    std::string path;
    std::vector<std::string> words;
    // Variables of the environment. The first has room for LISTEN_PID's number.
    std::vector<std::string> environment;
    std::vector<int> descriptors;
    // Room for duplicates of `descriptors`, above the numbers that these are to have.
    std::vector<int> moved;
    std::vector<char*> word_pointers;
    std::vector<char*> environment_pointers;
};

bool names_what_is_passed_on(std::string_view variable)
{
    constexpr std::array<std::string_view, 4> ours{
        pid_variable, "LISTEN_FDS=", "LISTEN_FDNAMES=", "GATEWAY_UPGRADE="};
    return std::any_of(ours.begin(), ours.end(), [variable](std::string_view name) {
        return variable.starts_with(name);
    });
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

// Plans a process with these descriptors from 3 on: those that listen, then the channel and the
// file.
start_plan plan_of(
    const own_start& how,
    const std::vector<startup::passed_socket>& listening,
    int channel,
    int file
)
{
    start_plan p;
    p.path = how.path;
    p.words = how.words;
    std::string names;
    for (const startup::passed_socket& s : listening) {
        p.descriptors.push_back(s.fd);
        names += (names.empty() ? "" : ":") +
                 std::string{s.file_goes_along ? startup::with_file : "listener"};
    }
    p.descriptors.push_back(channel);
    p.descriptors.push_back(file);
    p.moved.resize(p.descriptors.size());
    p.environment.push_back(std::string{pid_variable} + std::string(20, '\0'));
    p.environment.push_back("LISTEN_FDS=" + std::to_string(listening.size()));
    p.environment.push_back("LISTEN_FDNAMES=" + names);
    const auto first = startup::first_inherited_descriptor + static_cast<int>(listening.size());
    p.environment.push_back(std::string{upgrade_channel::variable} + '=' + std::to_string(first));
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (!names_what_is_passed_on(*variable)) {
            p.environment.emplace_back(*variable);
        }
    }
    p.word_pointers = pointers_to(p.words);
    p.environment_pointers = pointers_to(p.environment);
    return p;
}

void write_decimal(char* to, pid_t number)
{
    std::array<char, 20> digits{};
    std::size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number > 0);
    std::reverse_copy(digits.begin(), digits.begin() + count, to);
    to[count] = '\0';
}

// Makes the child the new process. Its parent has threads, so it makes system calls only.
[[noreturn]] void become(start_plan& p)
{
    const int first = startup::first_inherited_descriptor;
    const int behind = first + static_cast<int>(p.descriptors.size());
    for (std::size_t i = 0; i < p.descriptors.size(); ++i) {
        p.moved[i] = ::fcntl(p.descriptors[i], F_DUPFD_CLOEXEC, behind);
    }
    for (std::size_t i = 0; i < p.moved.size(); ++i) {
        if (p.moved[i] < 0 || ::dup2(p.moved[i], first + static_cast<int>(i)) < 0) {
            ::_exit(cannot_start);
        }
    }
    // Nothing else may stay open: a connection of this process would not end with it.
    ::syscall(SYS_close_range, behind, ~0U, 0);
    write_decimal(p.environment[0].data() + pid_variable.size(), ::getpid());
    ::execve(p.path.c_str(), p.word_pointers.data(), p.environment_pointers.data());
    const std::array<char, 2> why{
        static_cast<char>(upgrade_channel::word::not_started), static_cast<char>(errno)};
    const int channel = behind - 2;
    ::send(channel, why.data(), why.size(), MSG_NOSIGNAL);
    ::_exit(cannot_start);
}

}  // namespace

own_start own_start_of(int argc, const char* const* argv)
{
    own_start how{.path = argv[0], .words = {argv, argv + argc}};
    if (how.path.find('/') != std::string::npos) {
        how.path = std::filesystem::absolute(how.path).string();
        return how;
    }
    const char* const path = std::getenv("PATH");
    std::string_view left = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(':'), left.size());
        // An empty element is the current folder.
        const std::string_view folder = end == 0 ? "." : left.substr(0, end);
        const auto file = std::filesystem::absolute(folder) / how.path;
        std::error_code not_there;
        if (std::filesystem::is_regular_file(file, not_there) &&
            ::access(file.c_str(), X_OK) == 0) {
            how.path = file.string();
            break;
        }
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return how;
}

// Forks with all signals blocked. Until the child becomes another process, it has the signal
// actions of this one, and would tell this one of signals that were meant for the child.
pid_t start_process(
    const own_start& how,
    const std::vector<startup::passed_socket>& listening,
    int channel,
    int file
)
{
    start_plan plan = plan_of(how, listening, channel, file);
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    const pid_t pid = ::fork();
    if (pid == 0) {
        signals::prepare_child();
        become(plan);
    }
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return pid;
}

}  // namespace gateway
