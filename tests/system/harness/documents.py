"""What the documentation shows, so that tests can run it."""
import os
import re
import textwrap

from harness.gateway import ROOT


def documented(page, language=""):
    """The text of the page's first block of that language, as it stands there."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as f:
        text = f.read()
    found = re.search(rf"^ *```{language}\n(.*?)^ *```", text, re.S | re.M)
    assert found, f"no block of {language} in {page}"
    return textwrap.dedent(found[1])
