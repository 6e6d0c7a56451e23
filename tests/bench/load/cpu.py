"""What CPU a process has used, as the kernel counts it: in ticks."""
import os

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of the process and of its children that have ended."""
    return sum(user_and_kernel_seconds(pid))


def user_and_kernel_seconds(pid):
    """What the process and its children that have ended used themselves, and the kernel for them."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        user, kernel, of_children, kernel_of_children = map(int, f.read().rpartition(")")[2].split()[11:15])
    return (user + of_children) / TICK, (kernel + kernel_of_children) / TICK


def cpu_since(pid, before):
    """A tick at least, as it is divided by."""
    return max(cpu_seconds(pid) - before, 1 / TICK)
