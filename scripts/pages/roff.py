"""Manual pages in man(7): what other macro packages lack is not used."""
import os
import re
import time


def escaped(text):
    """Plain text. A hyphen stays one that can be searched for and copied."""
    text = text.replace("…", "...").replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = re.sub(r"(?m)^\.", r"\\&.", text.replace("^", "\\(ha").replace("~", "\\(ti"))
    return re.sub(r"[^\n -~]", lambda other: f"\\[u{ord(other[0]):04X}]", text)


def marked(text):
    """Text with `code` in bold, as in Markdown, and its links as their words."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"`\1`", text)
    pieces = text.split("`")
    return "".join(rf"\fB{_breakable(escaped(piece))}\fR" if i % 2 else escaped(piece) for i, piece in enumerate(pieces))


def _breakable(code):
    """A long URL may go on in the next line, behind one of its parts and without a hyphen."""
    return re.sub(r"([/,\]])(?=[^\s/,\]])", r"\1\:", code) if len(code) > 40 else code


def sentence(text):
    """A description that was written without an end."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", ":")) else text + "."


class Page:
    def __init__(self, name, section, version):
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        date = time.strftime("%Y-%m-%d", time.gmtime(int(epoch))) if epoch else ""
        self._lines = [f'.TH {escaped(name)} {section} "{date}" "gateway {version}"', ".nr HY 0", ".nh", ".ad l"]

    def name(self, name, does):
        self.heading("Name")
        self._lines.append(f"{escaped(name)} \\- {escaped(does)}")

    def heading(self, text):
        self._lines.append(f".SH {text.upper()}")

    def subheading(self, text):
        self._lines.append(f".SS {escaped(text)}")

    def paragraph(self, text):
        if not self._lines[-1].startswith((".SH", ".SS")):
            self._lines.append(".PP")
        self._lines.append(marked(text))

    def item(self, term, *paragraphs):
        """`term` is marked, and what it means is indented."""
        self._lines += [".TP", marked(term)]
        for i, text in enumerate(paragraphs):
            self._lines += ([".br"] if i else []) + [marked(text)]

    def example(self, text):
        self._lines += [".PP", ".RS 4", ".EX", escaped(text.rstrip("\n")), ".EE", ".RE"]

    def text(self):
        return "\n".join(self._lines) + "\n"
