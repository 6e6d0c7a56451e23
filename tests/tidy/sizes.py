"""No file grows past what a person reads in one go, and no folder of the product past what one surveys.

    sizes.py [ROOT]
"""

from sources import PRODUCT, finish, root_from_arguments, sources

PRODUCT_LINES = 400
TEST_LINES = 700
FOLDER_FILES = 40


def check_text(name, text):
    most = TEST_LINES if name.startswith("tests/") else PRODUCT_LINES
    lines = text.count("\n")
    if lines > most:
        return [f"{name}:{most}: {lines} lines, at most {most}: find the second noun in it"]
    return []


def check_folder(name, files):
    """`files` is the number of files directly in the folder, of whatever kind."""
    if files > FOLDER_FILES:
        return [f"{name}:1: {files} files, at most {FOLDER_FILES}: make a room of those that belong together"]
    return []


def main():
    root = root_from_arguments()
    files = sources(root)
    problems = []
    for path in files:
        problems += check_text(path.relative_to(root).as_posix(), path.read_text())
    for folder in [path for top in PRODUCT for path in [root / top, *sorted((root / top).rglob("*"))] if path.is_dir()]:
        count = sum(path.is_file() for path in folder.iterdir())
        problems += check_folder(folder.relative_to(root).as_posix(), count)
    finish("sizes", problems, len(files))


if __name__ == "__main__":
    main()
