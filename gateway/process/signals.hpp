// Sets what signals do to the process while nothing waits for them: before it serves, on the way to
// another binary, and at its end.
//
// Thread: the main thread.
#pragma once

#include <array>
#include <csignal>

namespace gateway::signals {

// The signals that a process waits for while it serves. The first three end it; the others change
// it: a reload, and an upgrade.
inline constexpr std::array handled_signals{SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2};

// Prepares a process, before anything that takes time. Signals that change it are blocked until
// unblock_all(). Those that end it do so at once, with status 0, as it serves nobody yet. All
// others that would end it are ignored from now on, but for SIGKILL, those that tell of a fault,
// and those that have an action already.
void prepare();

// Blocks the signals that end the process, too: from now on it has something to remove first.
void block_termination();

// True if a signal that ends the process has come since block_termination().
bool is_termination_pending();

// Blocks all signals that a process waits for, as nothing does so from now on.
void block_all();

// Unblocks all signals. Those that have come get the action that was installed meanwhile.
void unblock_all();

// Makes the next signal that asks for an end end the process at once, with status 1, also one that
// was blocked. Nothing waits for signals any more.
void end_at_next();

// Frees a child of this process, before execve(), from the signal actions of this process. Signals
// that end it do so. Those that change it are ignored until the other binary waits for them, which
// reads its configuration anyway. Makes system calls only.
void prepare_child();

}  // namespace gateway::signals
