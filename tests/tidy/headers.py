"""Every header compiles alone, so nobody depends on the order of includes.

    headers.py ROOT COMPILER

Headers that reach Asio or Beast's core are left to the files that include them first: each would
take seconds. Those that their own source file includes first are left to it, as preset dev compiles
each source file alone.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

from layers import included
from sources import PRODUCT, finish, root_from_arguments, sources

SLOW = re.compile(r"boost/asio|boost/beast|gmock/|gtest/")


def reaches_slow(name, texts):
    """Whether `name` includes something slow, directly or through headers of ours."""
    seen, waiting = {name}, [name]
    while waiting:
        for target in included(texts[waiting.pop()]):
            if SLOW.match(target):
                return True
            if target in texts and target not in seen:
                seen.add(target)
                waiting.append(target)
    return False


def is_first_in_own_source(root, name):
    source = (root / name).with_suffix(".cpp")
    return source.exists() and next(iter(included(source.read_text())), None) == name


def compile_alone(compiler, root, name):
    """Nothing, or what the compiler said first."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", str(root), "-x", "c++", "-"]
    text = f'#include "{name}"\n#include "{name}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return f"{name}:1: does not compile alone: {(errors or [done.stderr])[0]}"


def main():
    root = root_from_arguments()
    compiler = sys.argv[2]
    texts = {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sources(root, PRODUCT)
        if path.suffix == ".hpp"
    }
    names = [n for n in texts if not reaches_slow(n, texts) and not is_first_in_own_source(root, n)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda name: compile_alone(compiler, root, name), names)
        problems = [answer for answer in answers if answer is not None]
    finish("headers", problems, len(names))


if __name__ == "__main__":
    main()
