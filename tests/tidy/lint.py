"""Runs clang-tidy with the checks of .clang-tidy.

    lint.py ROOT BUILD_DIR [FOLDER...]      folders under gateway/, or config; default: the pure ones

BUILD_DIR holds compile_commands.json. A file that includes Asio takes half a minute, a pure one two
or three seconds: hence the default. What was found clean is remembered in BUILD_DIR/lint until the
file, a header of ours that it includes, or .clang-tidy changes.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

from layers import PURE, folder_of, included
from sources import finish, root_from_arguments

SKIPPED = 77  # what ctest takes for "skipped"


def lint(tool, build, path):
    """What clang-tidy says about one file; empty if it is content."""
    command = [tool, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode != 0 else ""


def fingerprint(root, path):
    """Changes whenever the verdict on `path` could."""
    seen, waiting = {path}, [path]
    while waiting:
        for target in included(waiting.pop().read_text()):
            header = root / target
            if header not in seen and header.is_file():
                seen.add(header)
                waiting.append(header)
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes())
    for file in sorted(seen):
        digest.update(f"{file}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def lint_unless_known(tool, root, build, path):
    known = build / "lint" / fingerprint(root, path)
    if known.exists():
        return ""
    said = lint(tool, build, path)
    if not said:
        known.parent.mkdir(exist_ok=True)
        known.touch()
    return said


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
        said = pool.map(lambda path: lint_unless_known(tool, root, build, path), files)
        problems = [text for text in said if text]
    finish("lint", problems, len(files))


if __name__ == "__main__":
    main()
