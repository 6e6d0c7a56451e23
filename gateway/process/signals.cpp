#include "gateway/process/signals.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace gateway::signals {

namespace {

constexpr std::span terminating = std::span{handled_signals}.first<3>();
constexpr std::span changing = std::span{handled_signals}.last<2>();

// True for signals that tell of a fault, stop the process, or do nothing to it.
bool is_left_alone(int signal)
{
    constexpr std::array faults{SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
    constexpr std::array of_terminals{SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH};
    constexpr std::array others{SIGKILL, SIGSTOP, SIGCHLD, SIGURG};
    const auto among = [signal](const auto& all) {
        return std::find(all.begin(), all.end(), signal) != all.end();
    };
    return among(faults) || among(of_terminals) || among(others) || among(handled_signals);
}

// True if the signal has its default action: SIG_DFL is the null pointer.
bool is_unhandled(int signal)
{
    struct sigaction present {};

    return ::sigaction(signal, nullptr, &present) == 0 && present.sa_sigaction == nullptr;
}

// Sets which signals the calling thread blocks, or adds to them.
void block(std::span<const int> signals, int how)
{
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (const int signal : signals) {
        ::sigaddset(&blocked, signal);
    }
    ::pthread_sigmask(how, &blocked, nullptr);
}

}  // namespace

void prepare()
{
    block(changing, SIG_SETMASK);
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        if (!is_left_alone(signal) && is_unhandled(signal)) {
            std::signal(signal, SIG_IGN);
        }
    }
    // An ignored SIGCHLD would take the exit status of a child away.
    std::signal(SIGCHLD, SIG_DFL);
    for (const int signal : terminating) {
        std::signal(signal, [](int) { std::_Exit(0); });
    }
}

void block_termination()
{
    block(terminating, SIG_BLOCK);
}

bool is_termination_pending()
{
    sigset_t pending;
    ::sigpending(&pending);
    return std::any_of(terminating.begin(), terminating.end(), [&pending](int signal) {
        return ::sigismember(&pending, signal) == 1;
    });
}

void block_all()
{
    block(handled_signals, SIG_BLOCK);
}

void unblock_all()
{
    block({}, SIG_SETMASK);
}

void end_at_next()
{
    for (const int signal : terminating) {
        std::signal(signal, [](int) { std::_Exit(1); });
    }
    block(changing, SIG_SETMASK);
}

void prepare_child()
{
    for (const int signal : changing) {
        std::signal(signal, SIG_IGN);
    }
    for (const int signal : terminating) {
        std::signal(signal, SIG_DFL);
    }
    unblock_all();
}

}  // namespace gateway::signals
