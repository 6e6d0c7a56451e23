"""A Markdown table that reads well in a terminal."""
import sys


def show(title, columns, lines):
    table = [columns, *lines]
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]

    def line(cells):
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"

    print(f"\n### {title}\n")
    print(line(columns))
    print(line(["-" * w for w in widths]))
    for cells in lines:
        print(line(cells))
    sys.stdout.flush()
