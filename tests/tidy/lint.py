"""Runs clang-tidy with the checks of .clang-tidy over the product.

    lint.py ROOT BUILD_DIR [FOLDER...]      folders under gateway/, or config; default: all

The checks walk every declaration of the standard library and Asio that a file includes, which takes
up to half a minute. So the sources of several folders are checked as one file: all of them as four
take a fifth of the time that they take folder by folder, and a fiftieth of file by file. The price is
that names of one folder must differ, those of anonymous namespaces too. BUILD_DIR holds
compile_commands.json; what was found clean together is remembered in BUILD_DIR/lint until one of its
files, a header of ours that they include, or .clang-tidy changes.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from layers import folder_of, included
from sources import finish, root_from_arguments

SKIPPED = 77  # what ctest takes for "skipped"
# Compiles Asio and Beast, and has nothing of ours.
FOREIGN = {"gateway/net/boost_impl.cpp"}
# As many files are made of all folders. Two would be faster yet, where nobody looks at the memory: a
# check of half the product takes 1.6 GB.
TOGETHER = 4


def written(path):
    """The files that a person wrote of one that is compiled: CMake's unity builds include several."""
    if "Unity" not in path.parts:
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.+)"$', path.read_text(), re.M)]


def sources_by_folder(root, database):
    """The product's source files of each folder, and the flags that they are compiled with."""
    files, flags = {}, {}
    compiled = [(e, pathlib.Path(e["file"])) for e in json.loads(database.read_text())]
    for entry, path in [(e, path) for e, p in compiled if p.exists() for path in written(p)]:
        if not path.is_relative_to(root) or not path.exists():
            continue
        name = path.relative_to(root).as_posix()
        folder = folder_of(name) or ("gateway" if name.startswith("gateway/") else None)
        if folder is None or name in FOREIGN:
            continue
        files.setdefault(folder, set()).add(path)  # a fuzzer compiles some again
        for word in shlex.split(entry["command"]):
            if word.startswith(("-D", "-I", "-std=")):
                flags.setdefault(folder, {})[word] = None
    return files, flags


def fingerprint(root, files, flags):
    """Changes whenever the verdict on these files could."""
    seen, waiting = set(files), list(files)
    while waiting:
        for target in included(waiting.pop().read_text()):
            header = root / target
            if header not in seen and header.is_file():
                seen.add(header)
                waiting.append(header)
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes() + " ".join(flags).encode())
    for file in sorted(seen):
        digest.update(f"{file}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def grouped(folders, sizes):
    """The folders in TOGETHER groups of about the same size, or one by one if they are fewer."""
    groups = [[] for _ in range(min(TOGETHER, len(folders)))]
    for folder in sorted(folders, key=lambda f: (-sizes[f], f)):
        min(groups, key=lambda g: sum(sizes[f] for f in g)).append(folder)
    return groups


def lint(tool, root, known, name, files, flags):
    """What clang-tidy says about these files; empty if it is content, or was before."""
    content = known / fingerprint(root, files, flags)
    if content.exists():
        return ""
    together = known / f"{name}.cpp"
    lines = [(f, i, text) for f in sorted(files) for i, text in enumerate(f.read_text().split("\n"), 1)]
    together.write_text("".join(f"{text}\n" for _, _, text in lines))
    command = [tool, f"--config-file={root / '.clang-tidy'}", "--quiet", str(together), "--", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        content.touch()
        return ""

    def origin(match):
        file, line, _ = lines[int(match[1]) - 1]
        return f"{file.relative_to(root)}:{line}:"

    said = done.stdout.strip() or done.stderr.strip()
    return re.sub(re.escape(str(together)) + r":(\d+):", origin, said)


def main():
    root = root_from_arguments()
    build = pathlib.Path(sys.argv[2]).resolve()
    tool = shutil.which("clang-tidy-14")
    if tool is None:
        print("lint: clang-tidy 14, whose checks .clang-tidy names, is not installed")
        sys.exit(SKIPPED)
    database = build / "compile_commands.json"
    if not database.exists():
        print(f"lint: no {database}; configure with CMAKE_EXPORT_COMPILE_COMMANDS=ON")
        sys.exit(SKIPPED)
    files, flags = sources_by_folder(root, database)
    folders = [f for f in files if not sys.argv[3:] or f in sys.argv[3:]]
    known = build / "lint"
    known.mkdir(exist_ok=True)

    def check(group):
        together = [path for folder in group for path in files[folder]]
        return lint(tool, root, known, group[0], together, dict.fromkeys(w for f in group for w in flags[f]))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(check, grouped(folders, {f: len(files[f]) for f in folders}))
        problems = [text for text in said if text]
    finish("lint", problems, len(folders))


if __name__ == "__main__":
    main()
