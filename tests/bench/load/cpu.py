"""What CPU a process has used, as the kernel counts it: in ticks."""
import os

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of the process and of its children that have ended."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return sum(int(ticks) for ticks in f.read().rpartition(")")[2].split()[11:15]) / TICK


def cpu_since(pid, before):
    """A tick at least, as it is divided by."""
    return max(cpu_seconds(pid) - before, 1 / TICK)
