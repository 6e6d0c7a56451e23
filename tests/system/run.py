#!/usr/bin/env python3
"""Runs the black-box tests: run.py [PATTERN...]; a pattern is any part of module.Class.test."""
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


class OneLinePerTest(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = 0
        self._began = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._began = time.monotonic()
        self._good = True

    def _tell(self, test, verdict):
        print(f"{verdict:4} {test.id()} ({time.monotonic() - self._began:.1f} s)", flush=True)

    def _bad(self, test, error):
        self._good = False
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
        self._good = False
        self._tell(test, f"skip ({reason})")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._tell(test, "ok")

    def stopTest(self, test):
        super().stopTest(test)
        self.passed += self._good


def all_tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from all_tests(item)
        else:
            yield item


def main(patterns):
    found = unittest.defaultTestLoader.discover(HERE, pattern="test_*.py", top_level_dir=HERE)
    chosen = [t for t in all_tests(found) if not patterns or any(p in t.id() for p in patterns)]
    result = OneLinePerTest()
    for test in chosen:
        test.run(result)
    skipped = len(result.skipped)
    failed = len(chosen) - result.passed - skipped
    if skipped:
        print(f"{skipped} skipped")
    print(f"{result.passed} passed, {failed} failed")
    return 0 if failed == 0 and chosen else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
