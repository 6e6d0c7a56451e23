"""Who may include whom. This table is the architecture; see docs/architecture.md.

    layers.py [ROOT]

A folder sees what is listed and itself. Pure folders, and files named *_state, know no sockets,
threads, clocks or foreign formats: `now` is an argument and results are returned.
"""

import re

from sources import code, finish, line_of, root_from_arguments, sources

ALLOWED = {
    "base": set(),
    "limit": {"base"},
    "identity": {"base"},
    "http": {"base", "limit"},
    "policy": {"base", "limit", "identity", "http"},
    "telemetry": {"base"},
    "net": {"base", "telemetry"},
    "store": {"base", "limit", "net", "telemetry"},
    "proxy": {"base", "http", "net", "telemetry"},
}
ALLOWED["server"] = set(ALLOWED)  # all above
ALLOWED["config"] = set(ALLOWED)
ALLOWED["process"] = set(ALLOWED)
ALLOWED["commands"] = set(ALLOWED) - {"process"}
PURE = {"base", "limit", "identity", "policy", "http"}

IMPURE_INCLUDE = re.compile(
    r"boost/asio|boost/beast/core(?:\.hpp|/)|thread|mutex|shared_mutex|condition_variable|future"
    r"|hiredis|libpq|yaml-cpp|prometheus|spdlog|sys/socket\.h|sys/epoll\.h|unistd\.h|iostream|fstream"
)
# Small value types of Beast's core that its parser's interface is made of.
PURE_BEAST_CORE = {"boost/beast/core/string_type.hpp", "boost/beast/core/error.hpp"}
CLOCK = re.compile(r"\b(?:steady_clock|system_clock|high_resolution_clock)::now\b|\bbase::(?:now|unix_time)\(\)")
CLOCK_FILE = "gateway/base/clock.hpp"
# The process's entropy is read once, at start-up, to key hash tables.
EXCUSED_INCLUDES = {("gateway/base/hash.cpp", "unistd.h")}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
USES = re.compile(r"gateway_library\(\s*gateway_(\w+)\s+USES\s+([^)]*)\)")


def folder_of(name):
    """The layer a path or include belongs to; None if it is not in one."""
    parts = name.split("/")
    if parts[0] == "config":
        return "config"
    return parts[1] if parts[0] == "gateway" and len(parts) > 2 else None


def check_text(name, text):
    """Problems of one file, `name` being its path from the root."""
    folder = folder_of(name)
    if folder is None:
        return []  # main, cli and app see everything
    if folder not in ALLOWED:
        return [f"{name}:1: {folder} is not in the layer table of tests/tidy/layers.py"]
    stem = name.rsplit("/", 1)[-1]
    pure = is_pure(name)
    kept = code(text, keep_strings=True)
    problems = []
    for match in INCLUDE.finditer(kept):
        at, target = f"{name}:{line_of(kept, match.start())}:", match[1]
        other = folder_of(target)
        if other is not None and other != folder and other not in ALLOWED[folder]:
            problems.append(f"{at} {folder} must not include {other}")
        elif other is None and target.startswith("gateway/"):
            problems.append(f"{at} {folder} must not include the top, {target}")
        if pure and IMPURE_INCLUDE.match(target) and target not in PURE_BEAST_CORE:
            if (name, target) not in EXCUSED_INCLUDES:
                problems.append(f"{at} {stem} is pure, but includes {target}")
    bare = code(text)
    for match in CLOCK.finditer(bare):
        at = f"{name}:{line_of(bare, match.start())}:"
        if "clock::" in match[0] and name != CLOCK_FILE:
            problems.append(f"{at} ask base::now() or base::unix_time(), not {match[0]}")
        elif "clock::" not in match[0] and pure:
            problems.append(f"{at} {stem} is pure: take `now` as an argument")
    return problems


def is_pure(name):
    return folder_of(name) in PURE or name.rsplit("/", 1)[-1].split(".")[0].endswith("_state")


def included(text):
    return [match[1] for match in INCLUDE.finditer(code(text, keep_strings=True))]


def check_closure(name, texts):
    """A pure file must not reach an impure include through headers of ours, either.

    `texts` maps every file's path from the root to its text.
    """
    if not is_pure(name):
        return []
    seen, waiting = {name}, [(name, [])]
    while waiting:
        at, path = waiting.pop()
        for target in included(texts[at]):
            if target in texts and target not in seen:
                seen.add(target)
                waiting.append((target, [*path, target]))
            elif path and IMPURE_INCLUDE.match(target) and target not in PURE_BEAST_CORE:
                return [f"{name}:1: is pure, but includes {target} by way of {', '.join(path)}"]
    return []


def check_uses(name, text):
    """What a folder links to is what it may include."""
    match = USES.search(text)
    if not match:
        return [f"{name}:1: no gateway_library(... USES ...)"]
    folder = match[1]
    problems = []
    if folder_of(name) != folder:
        problems.append(f"{name}:1: the library of {folder_of(name)} is called gateway_{folder}")
    for word in match[2].split():
        other = word.removeprefix("gateway_")
        if word.startswith("gateway_") and other not in ALLOWED.get(folder, set()):
            problems.append(f"{name}:1: {folder} must not use {other}")
        if folder in PURE and word in ("asio", "hiredis", "yaml-cpp", "spdlog::spdlog", "Threads::Threads"):
            problems.append(f"{name}:1: {folder} is pure, but uses {word}")
    return problems


def main():
    root = root_from_arguments()
    texts = {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sources(root, ("gateway", "config"))
    }
    problems, checked = [], len(texts)
    for name, text in texts.items():
        problems += check_text(name, text)
        problems += check_closure(name, texts)
    lists = [*root.glob("gateway/*/CMakeLists.txt"), *root.glob("config/CMakeLists.txt")]
    for path in sorted(lists):
        problems += check_uses(path.relative_to(root).as_posix(), path.read_text())
        checked += 1
    finish("layers", problems, checked)


if __name__ == "__main__":
    main()
