"""What the checkers share: which files are ours, their text without comments, and the ending."""

import pathlib
import re
import sys

PRODUCT = ("gateway", "config")
FOLDERS = (*PRODUCT, "tests")
SUFFIXES = (".hpp", ".cpp")

# A string, a character or a comment, whichever begins first. Raw strings end at their own delimiter.
_TOKEN = re.compile(
    r'R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)


def sources(root, folders=FOLDERS, suffixes=SUFFIXES):
    """Every file of ours under `root` with these suffixes, in order: those of C++ unless others are named."""
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes:
                found.append(path)
    return found


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def code(text, keep_strings=False):
    """`text` with comments, and the inside of literals, turned into spaces; lines stay where they are."""

    def replace(match):
        token = match[0]
        if token.startswith(("//", "/*")):
            return blank(token)
        if keep_strings or len(token) < 2:
            return token
        return '"' + blank(token[1:-1]) + '"'

    return _TOKEN.sub(replace, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def finish(name, problems, checked):
    """Prints the outcome and ends. A checker that looked at nothing has failed, too."""
    for problem in problems:
        print(problem)
    if not checked:
        print(f"{name}: found nothing to check")
    print(f"{name}: {len(problems)} problem(s) in {checked} file(s)")
    sys.exit(1 if problems or not checked else 0)


def root_from_arguments():
    return pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
