"""No file grows past what a person reads in one go.

    sizes.py [ROOT]
"""

from sources import finish, root_from_arguments, sources

PRODUCT_LINES = 400
TEST_LINES = 700


def check_text(name, text):
    most = TEST_LINES if name.startswith("tests/") else PRODUCT_LINES
    lines = text.count("\n")
    if lines > most:
        return [f"{name}:{most}: {lines} lines, at most {most}: find the second noun in it"]
    return []


def main():
    root = root_from_arguments()
    files = sources(root)
    problems = []
    for path in files:
        problems += check_text(path.relative_to(root).as_posix(), path.read_text())
    finish("sizes", problems, len(files))


if __name__ == "__main__":
    main()
