#include "gateway/signals.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace gateway::signals {

namespace {

constexpr std::span endings = std::span{waited_for}.first<3>();
constexpr std::span changes = std::span{waited_for}.last<2>();

// True for signals that tell of a fault, stop the process, or do nothing to it.
bool is_left_alone(int signal)
{
    constexpr std::array faults{SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
    constexpr std::array of_terminals{SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH};
    constexpr std::array others{SIGKILL, SIGSTOP, SIGCHLD, SIGURG};
    const auto among = [signal](const auto& all) {
        return std::find(all.begin(), all.end(), signal) != all.end();
    };
    return among(faults) || among(of_terminals) || among(others) || among(waited_for);
}

// SIG_DFL is the null pointer.
bool is_unhandled(int signal)
{
    struct sigaction present {};

    return ::sigaction(signal, nullptr, &present) == 0 && present.sa_sigaction == nullptr;
}

// Sets which signals the calling thread keeps, or adds to them.
void keep(std::span<const int> signals, int how)
{
    sigset_t kept;
    ::sigemptyset(&kept);
    for (const int signal : signals) {
        ::sigaddset(&kept, signal);
    }
    ::pthread_sigmask(how, &kept, nullptr);
}

}  // namespace

void prepare()
{
    keep(changes, SIG_SETMASK);
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        if (!is_left_alone(signal) && is_unhandled(signal)) {
            std::signal(signal, SIG_IGN);
        }
    }
    // Ignored, it would take the exit status of a child away.
    std::signal(SIGCHLD, SIG_DFL);
    for (const int signal : endings) {
        std::signal(signal, [](int) { std::_Exit(0); });
    }
}

void keep_endings()
{
    keep(endings, SIG_BLOCK);
}

bool is_ending_kept()
{
    sigset_t kept;
    ::sigpending(&kept);
    return std::any_of(endings.begin(), endings.end(), [&kept](int signal) {
        return ::sigismember(&kept, signal) == 1;
    });
}

void deliver()
{
    keep({}, SIG_SETMASK);
}

void end_at_next()
{
    keep(changes, SIG_BLOCK);
    for (const int signal : endings) {
        std::signal(signal, [](int) { std::_Exit(1); });
    }
}

void prepare_child()
{
    for (const int signal : changes) {
        std::signal(signal, SIG_IGN);
    }
    for (const int signal : endings) {
        std::signal(signal, SIG_DFL);
    }
    deliver();
}

}  // namespace gateway::signals
