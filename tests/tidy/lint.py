"""Runs clang-tidy with the checks of .clang-tidy.

    lint.py ROOT BUILD_DIR [FOLDER...]      folders under gateway/, or config; default: the pure ones

BUILD_DIR holds compile_commands.json. A file that includes Asio takes half a minute, a pure one a
second or two: hence the default.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

from layers import PURE, folder_of
from sources import finish, root_from_arguments

SKIPPED = 77  # what ctest takes for "skipped"


def lint(tool, build, path):
    """What clang-tidy says about one file; empty if it is content."""
    command = [tool, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode != 0 else ""


def main():
    root = root_from_arguments()
    build = pathlib.Path(sys.argv[2]).resolve()
    folders = set(sys.argv[3:]) or PURE
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if tool is None:
        print("lint: clang-tidy is not installed")
        sys.exit(SKIPPED)
    database = build / "compile_commands.json"
    if not database.exists():
        print(f"lint: no {database}; configure with CMAKE_EXPORT_COMPILE_COMMANDS=ON")
        sys.exit(SKIPPED)
    files = []
    for entry in json.loads(database.read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(root) and path.exists():
            if folder_of(path.relative_to(root).as_posix()) in folders:
                files.append(path)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(lambda path: lint(tool, build, path), files) if text]
    finish("lint", problems, len(files))


if __name__ == "__main__":
    main()
