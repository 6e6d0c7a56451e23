"""A long page begins with its contents, and links to headings lead to one.

    contents.py [ROOT]     holds README.md, CHANGELOG.md and docs/*.md to it
    contents.py ROOT --fix writes the contents of those pages anew
"""

import pathlib
import re
import sys

from sources import finish, root_from_arguments

# Pages that nobody reads from the beginning to the end.
WITH_CONTENTS = ("docs/configuration.md",)
HEADING = "## Contents"


def headings(text):
    """(level, text) of every heading that is not in a block of code."""
    without_code = re.sub(r"(?ms)^```.*?^```$", "", text)
    return [(len(marks), words) for marks, words in re.findall(r"(?m)^(#+) (.*)$", without_code)]


def anchor(words):
    """As GitHub makes it of a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def anchors(text):
    seen, found = {}, set()
    for _, words in headings(text):
        name = anchor(words)
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def contents_of(text):
    """The list that belongs under HEADING."""
    lines = []
    for level, words in headings(text):
        if level in (2, 3) and f"## {words}" != HEADING:
            lines.append(f"{'  ' * (level - 2)}- [{words}](#{anchor(words)})\n")
    return "".join(lines)


def split_at_contents(text):
    """What is before the list, the list, and what follows it; None without HEADING."""
    found = re.search(rf"(?ms)\A(.*?^{HEADING}\n\n)(.*?)(\n^## .*)\Z", text)
    return found.groups() if found else None


def check_text(name, text, anchors_of):
    """`anchors_of` gives those of another page, by its path from the root; None: there is no such page."""
    problems = []
    if name in WITH_CONTENTS:
        parts = split_at_contents(text)
        if parts is None:
            problems.append(f"{name}: no {HEADING!r} at its beginning")
        elif parts[1] != contents_of(text):
            problems.append(f"{name}: its contents are not its headings; run contents.py ROOT --fix")
    for page, heading in re.findall(r"\]\(([^()\s#]*)#([^()\s]+)\)", text):
        if "://" in page:
            continue
        here = pathlib.PurePosixPath(name)
        target = name if not page else _normal(here.parent / page)
        known = anchors_of(target)
        if known is None or heading not in known:
            problems.append(f"{name}: the link to {page}#{heading} leads nowhere")
    return problems


def _normal(path):
    parts = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def pages(root):
    return [p for p in (root / "README.md", root / "CHANGELOG.md") if p.exists()] + sorted(root.glob("docs/**/*.md"))


def fix(root):
    for name in WITH_CONTENTS:
        path = root / name
        before, _, after = split_at_contents(path.read_text())
        path.write_text(before + contents_of(path.read_text()) + after)


def main():
    if "--fix" in sys.argv:
        fix(pathlib.Path(sys.argv[1]))
        return
    root = root_from_arguments()

    def anchors_of(name):
        path = root / name
        return anchors(path.read_text()) if path.is_file() else None

    files = pages(root)
    problems = []
    for path in files:
        problems += check_text(path.relative_to(root).as_posix(), path.read_text(), anchors_of)
    finish("contents", problems, len(files))


if __name__ == "__main__":
    main()
