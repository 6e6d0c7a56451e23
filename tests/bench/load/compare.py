"""scripts/bench: compares the gateway with its peers. See docs/benchmarks.md for the method."""
import argparse
import functools
import os
import signal
import sys

import decision
import flood
import handshakes
import http2
import idle
import messages
import postgres
import profiling
import rate_limit_service
import stores
import sweep
import with_redis
from proxies import LOAD_CORE, PROXY_CORE, ROOT
from scenarios import SCENARIOS
from slices import compare

RESULTS = ROOT / "build/bench"
MEASUREMENTS = {
    **{name: functools.partial(compare, name, each) for name, each in SCENARIOS.items()},
    "sweep": sweep.run,
    "idle": idle.run,
    "handshakes": handshakes.run,
    "flood": flood.run,
    "decision": decision.run,
    "limits": decision.run_limits,
    "redis": with_redis.run,
    "stores": stores.run,
    "postgres": postgres.run,
    "messages": messages.run,
    "h2": functools.partial(http2.run, False),
    "h2_tls": functools.partial(http2.run, True),
    "grpc": http2.run_grpc,
    "rls": rate_limit_service.run,
    "profile": profiling.run,
}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME",
                        help=f"of {', '.join(MEASUREMENTS)}; none: all")
    chosen = parser.parse_args().name or list(MEASUREMENTS)
    unknown = [name for name in chosen if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"no such measurement: {', '.join(unknown)} (there are "
                     f"{', '.join(MEASUREMENTS)})")
    if not {PROXY_CORE, LOAD_CORE} <= os.sched_getaffinity(0):
        parser.error(f"needs cores {PROXY_CORE} and {LOAD_CORE}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the proxies are stopped
    for name in chosen:
        MEASUREMENTS[name](RESULTS)
    print(f"\nRaw results: {RESULTS.relative_to(ROOT)}/*.csv, *.json")


if __name__ == "__main__":
    main()
