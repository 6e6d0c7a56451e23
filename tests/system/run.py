#!/usr/bin/env python3
"""Runs the black-box tests: run.py [--jobs N] [--without PATTERN]... [PATTERN...]; a pattern is any
part of module.Class.test. With several jobs, those that take minutes (`long`) begin first, so that
none is waited for at the end; those that measure time (`alone`) come last, one by one, and then
whatever failed is tried once more, alone: a test that then holds lacked a processor, is told as such
at the end, and should be made to need none."""
import argparse
import contextlib
import io
import multiprocessing
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# Characters of the reason that are told again at the end.
LONGEST_REASON = 300
# Tests that are tried once more; if more failed, it is not for want of a processor.
MOST_TRIED_AGAIN = 30


class OneLinePerTest(unittest.TestResult):
    """Of one test, told on stdout."""

    def __init__(self):
        super().__init__()
        self.good = True
        self.why = ""
        self._began = time.monotonic()

    def _tell(self, test, verdict):
        print(f"{verdict:4} {test.id()} ({time.monotonic() - self._began:.1f} s)", flush=True)

    def _bad(self, test, error):
        self.good = False
        self.why = self.why or f"{error[0].__name__}: {error[1]}".splitlines()[0][:LONGEST_REASON]
        self._tell(test, "FAIL")
        print(self._exc_info_to_string(error, test), flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._bad(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._bad(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._bad(subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._tell(test, f"skip ({reason})")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._tell(test, "ok")


def all_tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from all_tests(item)
        else:
            yield item


def outcome(test):
    """passed, skipped or FAILED, and why it failed, in short."""
    result = OneLinePerTest()
    test.run(result)
    verdict = "FAILED" if not result.good else "skipped" if result.skipped else "passed"
    return verdict, result.why


def quietly(test):
    """Its name, its outcome, and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        ended = outcome(test)
    return test.id(), ended, said.getvalue()


def outcomes(tests, jobs):
    """The names and outcomes of all."""
    if jobs > 1:
        together = [t for t in tests if not getattr(t, "alone", False)]
        together.sort(key=lambda t: not getattr(t, "long", False))
        tests = [t for t in tests if getattr(t, "alone", False)]
        with multiprocessing.Pool(jobs) as pool:
            for name, ended, said in pool.imap_unordered(quietly, together):
                print(said, end="", flush=True)
                yield name, ended
    for test in tests:
        yield test.id(), outcome(test)


def tried_again(tests, ended):
    """The outcomes of those that failed beside others, when they run alone."""
    failed = [t for t in tests if ended[t.id()][0] == "FAILED"]
    if len(failed) > MOST_TRIED_AGAIN:
        return {}
    if failed:
        print(f"{len(failed)} failed, tried again alone", flush=True)
    return {test.id(): outcome(test) for test in failed}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("pattern", nargs="*")
    wanted = parser.parse_args()
    found = unittest.defaultTestLoader.discover(HERE, pattern="test_*.py", top_level_dir=HERE)

    def is_chosen(name):
        named = not wanted.pattern or any(p in name for p in wanted.pattern)
        return named and not any(p in name for p in wanted.without)

    chosen = [t for t in all_tests(found) if is_chosen(t.id())]
    ended = dict(outcomes(chosen, wanted.jobs))
    if wanted.jobs > 1:
        for name, (verdict, why) in tried_again(chosen, ended).items():
            if verdict == "passed":
                print(f"HELD ALONE: {name}: {ended[name][1]}")
            ended[name] = (verdict, why)
    for name, (verdict, why) in ended.items():
        if verdict == "FAILED":
            print(f"FAIL: {name}: {why}")
    count = [verdict for verdict, _ in ended.values()].count
    print(f"{count('skipped')} skipped")
    print(f"{count('passed')} passed, {count('FAILED')} failed")
    return 0 if chosen and not count("FAILED") else 1


if __name__ == "__main__":
    sys.exit(main())
