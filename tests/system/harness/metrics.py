"""The exposition format, as far as the tests read it."""
import re

ROW = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)",?')


class Metrics:
    """One scrape."""

    def __init__(self, text):
        self.text = text
        self.rows = []  # (name, labels, value)
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, labels, value = ROW.match(line).groups()
                self.rows.append((name, dict(LABEL.findall(labels or "")), float(value)))

    def sum(self, name, **labels):
        """Of all rows with these labels; None if there is no such row."""
        values = [v for n, row, v in self.rows if n == name and labels.items() <= row.items()]
        return sum(values) if values else None

    def count(self, name, **labels):
        """As `sum`; 0 if there is no such row."""
        return self.sum(name, **labels) or 0

    def names(self):
        return {name for name, _, _ in self.rows}
