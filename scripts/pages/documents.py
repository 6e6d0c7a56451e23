"""What the manual pages take from the documents of the project."""
import os
import re
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def document(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def block(path, language, holding):
    """The first block of that language that holds a text."""
    for found in re.findall(rf"^ *```{language}\n(.*?)^ *```", document(path), re.S | re.M):
        if holding in found:
            return textwrap.dedent(found)
    raise LookupError(f"{path} has no block of {language} with {holding!r}")


def paragraph(path, beginning):
    """The paragraph that begins so, on one line."""
    found = re.search(rf"^{re.escape(beginning)}.*?(?=\n\n)", document(path), re.S | re.M)
    if not found:
        raise LookupError(f"{path} has no paragraph {beginning!r}")
    return found[0].replace("\n", " ")


def rows(path, holding):
    """[(left, right)] of the rows of two columns whose right one holds a text."""
    return [row for row in re.findall(r"^\| (.*?) \| (.*?) \|$", document(path), re.M) if holding in row[1]]


def rules(path, heading):
    """The items of the first list below a heading, each on one line."""
    text = document(path)
    text = text[text.index(heading):]
    items = re.search(r"\n\n(- .*?)\n\n", text, re.S)[1]
    return [re.sub(r"\s+", " ", item) for item in re.split(r"^- ", items, flags=re.M)[1:]]
