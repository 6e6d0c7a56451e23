"""Cases of docs/migrate: the gateway and the program that it replaces, asked the same."""
import glob
import json
import os
import re

from harness.client import Connection
from harness.gateway import ROOT, run_command
from harness.origin import Origin, answer_ok
from harness.process import free_port, wait_until
from harness.recipes import RecipeTest, blocks, configurations, page, recipe, sections

FOLDER = "migrate"
# Where a page has its peer listen, and where the test does.
LISTENS = {"nginx": ("listen 80;", "listen 127.0.0.1:{0};"), "haproxy": ("bind :80\n", "bind 127.0.0.1:{0}\n"),
           "js": ("listen(3000)", "listen({0}, '127.0.0.1')")}


def pages():
    """Names of the pages about one peer each."""
    found = sorted(os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "docs", FOLDER, "*.md")))
    return [f"{FOLDER}/{name}" for name in found if name != "index.md"]


def cases(name):
    """(heading, text) of each section of that page which has a file of the gateway's."""
    return [(heading, text) for heading, text in sections(name) if configurations(text)]


def case(of, heading):
    return recipe(heading, f"{FOLDER}/{of}.md")


def peers_block(text, language, port, origin, files="/etc/haproxy"):
    """The section's first block of the peer's, with addresses of the test."""
    shown, here = LISTENS[language]
    block = blocks(text, language)[0]
    assert shown in block, f"no {shown!r} in the block of {language}"
    return block.replace(shown, here.format(port)).replace("127.0.0.1:9000", origin)


def replaced(text, changes):
    for shown, here in changes.items():
        assert re.search(shown, text), f"no {shown!r} in:\n{text}"
        text = re.sub(shown, here, text)
    return text


class MigrationTest(RecipeTest):
    """Of one peer. A subclass says in which language its pages are, and how it is started."""

    language = None

    def start_peer(self, port, text):
        """Starts it, listening there."""
        raise NotImplementedError

    def both(self, theirs=(), ours=(), script=answer_ok):
        """The peer and the gateway of the case, each before an origin of its own. `theirs` and `ours` are
        patterns that stand in the configurations, each with what the test has instead."""
        self.peers_origin = self.started(Origin(script))
        port = free_port()
        text = peers_block(self.text, self.language, port, self.peers_origin.address)
        self.peer = self.started(self.start_peer(port, replaced(text, dict(theirs))))
        self.peers_address = ("127.0.0.1", port)
        self.ours(ours, script)

    def ours(self, changes=(), script=answer_ok, trusting=False):
        """The gateway of the case alone."""
        self.origin_ = self.started(Origin(script))
        self.gateway_ = self.before(self.origin_.address, trusting, lambda text: replaced(text, dict(changes)))

    def connected_to(self, address, source=None):
        return self.enterContext(Connection(address, source=source))

    def askers(self, target="/", headers=(), source=None, method="GET"):
        """(theirs, ours): each asks once more whenever it is called, on a connection of its own."""

        def asking(address):
            def ask():
                with Connection(address, source=source) as c:
                    return c.ask(target, list(headers), method)

            return ask

        return asking(self.peers_address), asking(self.gateway_.address)

    def statuses(self, count, *arguments, **options):
        """(theirs, ours) of so many equal requests."""
        return tuple([ask().status for _ in range(count)] for ask in self.askers(*arguments, **options))

    def assert_same(self, expected, *arguments, **options):
        theirs, ours = self.statuses(len(expected), *arguments, **options)
        self.assertEqual(theirs, expected, "theirs")
        self.assertEqual(ours, expected, "ours")

    def assert_replayed(self, log, allowed, rejected, *options):
        """The peer's access log says to a replay of the gateway's file what the gateway decided."""

        def written():
            with open(log, encoding="utf-8") as f:
                return len(f.read().splitlines()) >= allowed + rejected

        wait_until(written, what="the log")
        words = ["replay", "--config", self.gateway_.config_path, "--format", "json", *options, log]
        status, out, err = run_command(*words)
        self.assertEqual((status, err), (0, ""))
        said = json.loads(out)
        # A connection without a request has a line, too, and is under no limit.
        limited = said["allowed"] - said["unlimited"]
        self.assertEqual((said["bad_lines"], limited, said["rejected"]), (0, allowed, rejected))
