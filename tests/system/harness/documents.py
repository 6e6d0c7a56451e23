"""What the documentation shows, so that tests can run it."""
import os
import re
import textwrap

from harness.gateway import ROOT


def page(name):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as f:
        return f.read()


def documented(name, language="", holding=""):
    """The text of the page's first block of that language with that in it, as it stands there."""
    blocks = re.findall(rf"^ *```{language}\n(.*?)^ *```", page(name), re.S | re.M)
    found = [block for block in blocks if holding in block]
    assert found, f"no block of {language} with {holding!r} in {name}"
    return textwrap.dedent(found[0])
