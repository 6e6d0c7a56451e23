// The process's signals while nobody waits for them: before it serves, on the way to another
// binary, and at its end.
//
// Thread: the main thread.
#pragma once

#include <array>
#include <csignal>

namespace gateway::signals {

// The signals that a process waits for while it serves. The first three end it; the others change
// it: a reload, and an upgrade.
inline constexpr std::array waited_for{SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2};

// Begins a process, before anything that takes time. Signals that change it are kept for deliver();
// those that end it do so at once, with status 0, as it serves nobody yet. All others that would
// end it are ignored from now on, but for SIGKILL, those that tell of a fault, and those that
// somebody handles already.
void prepare();

// Keeps signals that end the process, too: from now on it has something to remove first.
void keep_endings();

// True if a signal that ends the process is being kept.
bool is_ending_kept();

// Gives what was kept to the handlers that have been installed meanwhile.
void deliver();

// Ends the process, with status 1, at the next signal that asks for an end; nobody waits for any.
void end_at_next();

// Detaches a child of this process, before execve(), from the handlers of this process. Signals
// that end it do so; those that change it are ignored until the other binary waits for them, which
// reads its configuration anyway. Makes system calls only.
void prepare_child();

}  // namespace gateway::signals
