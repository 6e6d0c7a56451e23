"""Time as the machine had it to work in.

A machine that is shared stands still now and then, for a moment or for seconds, and everything in
it is late by as much. `running()` is time.monotonic() without these pauses: what a test allows the
gateway is allowed in it. What refills a bucket is real time, and is read from time.monotonic().
"""
import os
import threading
import time

TICK = 0.005
# What passes at most from one tick to the next. Only a longer pause is seen as one.
LONGEST = 0.015

_last = (time.monotonic(), 0.0)  # a moment, and what running() was then


def running():
    real, was = _last
    return was + min(time.monotonic() - real, LONGEST)


def _tick():
    global _last
    while True:
        time.sleep(TICK)
        now = time.monotonic()
        real, was = _last
        _last = (now, was + min(now - real, LONGEST))


def _start():
    threading.Thread(target=_tick, daemon=True).start()


_start()
os.register_at_fork(after_in_child=_start)
