"""What the documentation shows, so that tests can run it."""
import os
import re
import textwrap

from harness.gateway import ROOT


def documented(page, language="", holding=""):
    """The text of the page's first block of that language with that in it, as it stands there."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.S | re.M)
    found = [block for block in blocks if holding in block]
    assert found, f"no block of {language} with {holding!r} in {page}"
    return textwrap.dedent(found[0])
