"""Who may include whom. These tables are the architecture; see docs/architecture.md.

    layers.py [ROOT]

A folder sees what is listed and itself. A room within a folder sees the folder's face, which is what lies
in no room, and the rooms that are listed for it; the face sees all rooms. Rooms on top of the face are not
seen by it, and those beneath do not see it. No circle of files is possible. Pure folders, and files named *_state, know no sockets,
threads, clocks or foreign formats: `now` is an argument and results are returned.
"""

import re

from sources import PRODUCT, code, finish, line_of, root_from_arguments, sources

ALLOWED = {
    "base": set(),
    "content": {"base"},
    "limit": {"base"},
    "identity": {"base"},
    "http": {"base", "limit"},
    "http2": {"base", "http"},
    "policy": {"base", "content", "limit", "identity", "http"},
    "envoy": {"base"},
    "telemetry": {"base"},
    "tracing": {"base", "http", "telemetry"},
    "net": {"base", "telemetry"},
    "store": {"base", "limit", "net", "telemetry"},
    "proxy": {"base", "http", "http2", "net", "telemetry"},
}
ALLOWED["intake"] = {"base", "content", "identity", "http", "policy", "envoy"}
ALLOWED["limits"] = set(ALLOWED)  # all above
ALLOWED["replay"] = set(ALLOWED)
ALLOWED["client"] = set(ALLOWED) - {"replay"}
ALLOWED["worker"] = set(ALLOWED) - {"replay"}
ALLOWED["probes"] = {"base", "http2", "telemetry", "net", "proxy", "worker"}
ALLOWED["admin"] = set(ALLOWED) - {"replay"}
ALLOWED["config"] = set(ALLOWED) - {"replay"}
ALLOWED["process"] = set(ALLOWED) - {"replay"}
ALLOWED["commands"] = set(ALLOWED) - {"process"}
ROOMS = {
    "http/grpc": set(),
    "http/input": {"http/grpc"},
    "http/output": {"http/grpc"},
    "policy/paths": set(),
    "net/tls": set(),
    "proxy/servers": set(),
    "proxy/pool": {"proxy/servers"},
    "store/memory": set(),
    "store/remote": set(),
    "store/redis/protocol": {"store/remote"},
    "store/redis/sentinel": {"store/remote", "store/redis/protocol"},
    "store/redis/cluster": {"store/remote", "store/redis/protocol"},
    "store/redis": {"store/remote", "store/redis/protocol", "store/redis/sentinel", "store/redis/cluster"},
    "store/postgres": {"store/remote"},
    "limits/reservations": set(),
    "limits/reports": set(),
    "limits/checks": {"limits/reservations", "limits/reports"},
    "client/requests": set(),
    "client/http1": {"client/requests"},
    "client/http2": {"client/requests"},
    "replay/logs": set(),
    "replay/reports": set(),
    "telemetry/history": set(),
    "admin/stream": set(),
    "admin/page": set(),
    "commands/top": set(),
    "config/text": set(),
    "config/urls": {"config/text"},
    "config/keys": {"config/text", "config/urls"},
    "config/limits": {"config/text", "config/keys"},
    "config/routes": {"config/text", "config/keys"},
}
ON_TOP = {
    "http/grpc",
    "http/input",
    "http/output",
    "proxy/pool",
    "store/memory",
    "limits/reports",
    "replay/reports",
    "config/limits",
}
BENEATH = {"net/tls", "commands/top", "config/text", "config/urls"}
PURE = {"base", "content", "limit", "identity", "policy", "http", "http2", "envoy", "intake"}

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

PICTURE = "docs/pictures/rooms.svg"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
USES = re.compile(r"gateway_library\(\s*gateway_(\w+)\s+USES\s+([^)]*)\)")


def folder_of(name):
    """The layer a path or include belongs to; None if it is not in one."""
    parts = name.split("/")
    if parts[0] == "config":
        return "config"
    return parts[1] if parts[0] == "gateway" and len(parts) > 2 else None


def room_of(name):
    """The room a path or include belongs to, such as store/redis/cluster; None if it is in none."""
    parts = name.removeprefix("gateway/").split("/")[:-1]
    return "/".join(parts) if len(parts) > 1 else None


def check_room(name, target):
    """What is wrong with an include within a folder, or None."""
    room, other = room_of(name), room_of(target)
    if room == other:
        return None
    if room is None:
        return f"the face of {folder_of(name)} must not include {other}" if other in ON_TOP else None
    if other is None:
        return f"{room} must not include the face of {folder_of(name)}" if room in BENEATH else None
    if room not in ROOMS:
        return f"{room} is not in the table of rooms of tests/tidy/layers.py"
    return None if other in ROOMS[room] else f"{room} must not include {other}"


def check_circles(texts):
    """A file that includes itself by way of others. `texts` maps paths from the root to texts."""
    problems, done = [], set()

    def visit(name, path):
        if name in path:
            problems.append(f"{name}:1: includes itself by way of {', '.join(path[path.index(name) + 1:])}")
        elif name not in done:
            for target in included(texts[name]):
                if target in texts:
                    visit(target, [*path, name])
            done.add(name)

    for name in sorted(texts):
        visit(name, [])
    return problems


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
        elif other == folder and (problem := check_room(name, target)):
            problems.append(f"{at} {problem}")
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


def names_to_show():
    """What the picture shows: the folders, and the last names of rooms."""
    return [*ALLOWED, *(room.rsplit("/", 1)[-1] for room in ROOMS)]


def check_picture(text):
    """Folders and rooms that the picture does not show."""
    shown = set(re.findall(r">([^<>]+)</text>", text))
    return [f"{PICTURE}:1: does not show {name}" for name in names_to_show() if name not in shown]


def main():
    root = root_from_arguments()
    texts = {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sources(root, PRODUCT)
    }
    problems, checked = check_circles(texts), len(texts)
    for name, text in texts.items():
        problems += check_text(name, text)
        problems += check_closure(name, texts)
    picture = root / PICTURE
    problems += check_picture(picture.read_text() if picture.exists() else "")
    lists = [*root.glob("gateway/*/CMakeLists.txt"), *root.glob("config/CMakeLists.txt")]
    for path in sorted(lists):
        problems += check_uses(path.relative_to(root).as_posix(), path.read_text())
        checked += 1
    finish("layers", problems, checked)


if __name__ == "__main__":
    main()
