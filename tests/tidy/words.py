"""Words and patterns we do without, each with what to write instead.

    words.py [ROOT]

Comments are checked for unfinished work and for vocabulary; code for the rest. Comments of SQL and Lua, which
begin with `--`, are read like those of C++.
"""

import re

from sources import blank, code, finish, line_of, root_from_arguments, sources

PRODUCT = r"^(gateway|config)/"
EVERYWHERE = r"^(gateway|config|tests)/"
SCRIPTS = (".sql", ".lua")

# Files of released versions of the schema. A database keeps the bodies of their functions, comments included, so
# these stay as they are (docs/decisions/0019). It does not keep the comments outside.
RELEASED = re.compile(r"^gateway/store/postgres/((?!version_)\w+|version_[23])\.sql$")
BODY = re.compile(r"\$\$.*?\$\$", re.DOTALL)


class Rule:
    def __init__(self, pattern, instead, where=PRODUCT, but=r"^$", raw=False):
        self.pattern = re.compile(pattern)
        self.instead = instead
        self.where = re.compile(where)
        self.but = re.compile(but)
        self.raw = raw  # in comments and literals, too


def opening_rule(mark, where):
    """Returns the rule for the first line of a comment, which is one that stands below no other line of it."""
    words = "Of|By|To|What|Whether|Whose|Who|Whom|Whoever|Whatever|Such|So|As|Where|Wherever|Than|That|Which|Why|How|If it"
    return Rule(
        rf"(?m)(?:\A|^(?![ \t]*{mark}).*\n)[ \t]*{mark} (?:{words})\b",
        "a comment is whole sentences, subject first: Returns ..., True if ..., Number of ...",
        where=where,
        raw=True,
    )


RULES = [
    Rule(
        r"\bco_await\b[^;]*?\[[^\[\];]*[\w&=][^\[\];]*\]\s*(?:\([^;()]*\))?\s*(?:mutable\s*)?(?:->[^{;]*)?\{",
        "GCC 12 destroys a capturing lambda inside a co_await expression twice: name it first",
        where=EVERYWHERE,
    ),
    Rule(
        r"\bcatch\s*\(",
        "failures are values; exceptions end in main, at start-up or reload, in config, and where Asio or protozero throw",
        but=r"^config/|^gateway/(main|app|commands/cli|net/resolved_name|envoy/rate_limit_request)\.cpp$",
    ),
    Rule(r"\b(?:enable_)?shared_from_this\b", "say who owns it, and let the owner outlive it"),
    Rule(
        r"\bstd::(?:recursive_|shared_|timed_)?mutex\b",
        "workers share the local store's table, the statuses of upstreams, the count of peers and the last addresses, nothing else",
        but=r"^gateway/telemetry/|^gateway/tracing/span_queue\.|^gateway/proxy/servers/(upstream_status|wait_queue)\.|^gateway/client/peer_count\.|^gateway/net/last_addresses\.|^gateway/process/successor\.hpp$",
    ),
    Rule(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b", "wait for the event, or use the timer wheel"),
    Rule(r"\bdetach\(\)", "a thread or coroutine has an owner who joins it"),
    Rule(r"\[=\]", "name what the lambda captures", where=EVERYWHERE),
    Rule(r"\b(?:rand|srand|strtok|gmtime|localtime|asctime|ctime|strerror)\s*\(", "use the reentrant form"),
    Rule(r"\b(?:atoi|atol|atoll|strtol|stoi|stol|stoul|stoull)\s*\(", "use base::parse_decimal or std::from_chars"),
    Rule(r"\b(?:sprintf|strcpy|strcat|gets)\s*\(", "use std::string or a bounded form"),
    Rule(r"\busing namespace std\s*;", "write std::", where=EVERYWHERE),
    Rule(r"\b(?:TODO|FIXME|XXX|HACK)\b", "finish it, or open an issue", where=EVERYWHERE, raw=True, but=r"^tests/tidy/"),
    Rule(
        r"(?m)[^\s/:\"][ \t]+//(?! namespace| NOLINT)",
        "a comment stands above what it explains",
        where=r"^(gateway|config)/.*\.hpp$",
        raw=True,
    ),
    Rule(
        r"(?i)\bdown_?stream", "client, or peer", where=EVERYWHERE, raw=True, but=r"^tests/tidy/"
    ),
    Rule(
        r"(?i)\b(?:back|front)_?ends?\b",
        "upstream, server, client or peer",
        raw=True,
        but=r"^config/text/foreign_keys\.cpp$",
    ),
    Rule(
        # A parser of Boost.JSON calls what hears of its events its handler().
        r"\b(?:\w+_)?(?:manager|helper|utils?|handler)s?\b(?!\(\))",
        "name the thing after what it does",
    ),
    opening_rule("//", r"^(gateway|config)/.*\.[ch]pp$"),
    opening_rule("--", r"^gateway/.*\.(sql|lua)$"),
]


def check_text(name, text):
    if RELEASED.search(name):
        text = BODY.sub(lambda body: blank(body[0]), text)
    bare = code(text)
    problems = []
    for rule in RULES:
        if not rule.where.search(name) or rule.but.search(name):
            continue
        body = text if rule.raw else bare
        for match in rule.pattern.finditer(body):
            found = " ".join(match[0].split())
            problems.append(f"{name}:{line_of(body, match.end())}: `{found[-60:]}`: {rule.instead}")
    return problems


def main():
    root = root_from_arguments()
    files = sources(root) + sources(root, suffixes=SCRIPTS)
    problems = []
    for path in files:
        problems += check_text(path.relative_to(root).as_posix(), path.read_text())
    finish("words", problems, len(files))


if __name__ == "__main__":
    main()
