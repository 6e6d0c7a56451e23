"""Renders docs/ and the pages at the root as a site: render_site.py FOLDER

Viewers such as GitHub's show the same files, so links in them lead from file to file. The site has other
places for some files, and Python-Markdown reads some things otherwise; both are changed in a copy.
"""
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Files of the root, and their places in the site.
AT_ROOT = {
    "README.md": "gateway.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "gateway.yaml.example": "example.md",
    "docs/decisions": "decisions/index.md",
}
# The reference of keys has a look of its own on phones.
WITH_CLASS = r'<div class="keys" markdown="1">\n\n\g<0>\n</div>\n'
# A link or picture: its text in brackets, its target in parentheses.
LINK = re.compile(r"(\[[^\]]*\])\(([^)\s]+)\)")


def place_of(path):
    """The place in the site of a file of the repository, or None for a folder or a file that is not in docs/."""
    if path in AT_ROOT:
        return AT_ROOT[path]
    if path.startswith("docs/") and os.path.isfile(os.path.join(ROOT, path)):
        return path.removeprefix("docs/")
    return None


def with_links_of_the_site(text, path):
    """The text of the file at `path` with its links changed."""

    def changed(link):
        words, (target, _, anchor) = link[1], link[2].partition("#")
        if not target or "://" in target:
            return link[0]
        aimed = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        place = place_of(aimed)
        if place is None and os.path.exists(os.path.join(ROOT, aimed)):
            return f"{words[1:-1]} (`{aimed}`)"  # a source, which the site does not have
        relative = posixpath.relpath(place or aimed, posixpath.dirname(place_of(path)) or ".")
        return f"{words}({relative}{anchor and '#'}{anchor})"

    return LINK.sub(changed, text)


def for_python_markdown(text):
    """Nested lists are indented by 4, and a list is a block of its own. The theme shows the contents."""
    text = re.sub(r"(?ms)^## Contents\n.*?(?=^## )", "", text)
    text = re.sub(r"(?m)^\| key \| default \| range \| meaning \|\n(?:\|.*\n)+", WITH_CLASS, text)
    lines, in_code = [], False
    for line in text.split("\n"):
        in_code ^= line.lstrip().startswith("```")
        item = not in_code and re.match(r" *([-*]|\d+\.) ", line)
        if item and line.startswith("  "):
            line = "  " + line
        elif item and lines and lines[-1] and not re.match(r" |[-*] |\d+\. ", lines[-1]):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def copied_pages(folder):
    """Fills a folder with what mkdocs renders."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "docs"), folder)
    pages = [os.path.relpath(os.path.join(where, name), folder)
             for where, _, names in os.walk(folder) for name in names if name.endswith(".md")]
    for path in ["docs/" + page for page in pages] + [path for path in AT_ROOT if "decisions" not in path]:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        if path.endswith(".md"):
            text = for_python_markdown(with_links_of_the_site(text, path))
        else:
            text = f"# {path}\n\nThis page is for operators who look for a key by example.\n\n```yaml\n{text}```\n"
        with open(os.path.join(folder, place_of(path)), "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(folder, "decisions", "index.md"), "w", encoding="utf-8") as f:
        f.write("# Decisions\n\nThis page is for developers who ask why something is as it is.\n\n")
        f.writelines(f"- [{title(folder, page)}]({posixpath.basename(page)})\n"
                     for page in sorted(pages) if page.startswith("decisions/"))


def title(folder, page):
    with open(os.path.join(folder, page), encoding="utf-8") as f:
        return f.readline().removeprefix("# ").strip().replace("`", "")


def with_patterns_replaced(config, folder):
    """An item of the navigation that is a pattern stands for all pages that it matches."""

    def items(line):
        under, pattern = os.path.split(line[2])
        matching = re.compile(pattern.replace(".", r"\.").replace("*", ".*"))
        names = sorted(os.listdir(os.path.join(folder, under))) if os.path.isdir(os.path.join(folder, under)) else []
        paths = [f"{under}/{name}" for name in names if matching.fullmatch(name) and name != "index.md"]
        return "".join(f"{line[1]}- {json.dumps(title(folder, path))}: {path}\n" for path in paths)

    config = re.sub(r"(?m)^( *)- (\S+\*\S*)\n", items, config)
    return re.sub(r"(?m)^( *)- [^\n]*:\n(?!\1 )", "", config)  # a heading without pages


def main():
    site = os.path.abspath(sys.argv[1])
    folder = site + "-pages"
    copied_pages(folder)
    with open(os.path.join(HERE, "mkdocs.yml"), encoding="utf-8") as f:
        config = with_patterns_replaced(f.read(), folder)
    with open(folder + ".yml", "w", encoding="utf-8") as f:
        f.write(config)
    places = {"SITE": site, "SITE_PAGES": folder, "SITE_THEME": os.path.join(HERE, "theme")}
    sys.exit(subprocess.run(
        ["/usr/bin/mkdocs", "build", "--quiet", "--strict", "--clean", "--config-file", folder + ".yml"],
        env=os.environ | places, check=False).returncode)


if __name__ == "__main__":
    main()
