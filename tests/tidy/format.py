"""Every C++ file is as clang-format 14 would write it.

    format.py [ROOT]            says which are not
    format.py [ROOT] --fix      rewrites them
"""

import shutil
import subprocess
import sys

from sources import finish, root_from_arguments, sources

SKIPPED = 77  # what ctest takes for "skipped"


def badly_formatted(tool, path):
    """Whether clang-format would change `path`."""
    return subprocess.run([tool, "--dry-run", "-Werror", path], capture_output=True).returncode != 0


def main():
    root = root_from_arguments()
    tool = shutil.which("clang-format-14")
    if tool is None:
        print("format: clang-format 14 is not installed, and other versions write some lines differently")
        sys.exit(SKIPPED)
    files = sources(root)
    if "--fix" in sys.argv:
        subprocess.run([tool, "-i", *files], check=True)
    problems = []
    # One process for all is quick; only if it complains do we ask file by file.
    if files and subprocess.run([tool, "--dry-run", "-Werror", *files], capture_output=True).returncode != 0:
        for path in files:
            if badly_formatted(tool, path):
                problems.append(f"{path.relative_to(root)}: not formatted; build the target `format`")
    finish("format", problems, len(files))


if __name__ == "__main__":
    main()
