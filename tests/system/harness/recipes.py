"""The recipes of docs/recipes.md and the cases of docs/migrate, and gateways that run them."""
import functools
import json
import os
import re
import shlex
import threading
import time

from harness.case import SystemTest
from harness.gateway import BINARY, ROOT
from harness.origin import Origin, answer_ok
from harness.process import run_tool, wait_until
from harness.redis_server import RedisServer
from harness.tokens import encoded

TOKEN = "s3cret-of-the-admin"
KEY = "2f7c9e41b8"
SECRET = b"recipes-are-signed-with-32-bytes"
PLANS = f"# who has paid\n{KEY},gold\nb2,silver\nc3,closed\n"
FILES = {
    "admin-token": TOKEN + "\n",
    "plans.csv": PLANS,
    "jwks.json": json.dumps({"keys": [{"kty": "oct", "k": encoded(SECRET)}]}),
}
REDIS = "redis://127.0.0.1:6379/0"


def page(name):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as f:
        return f.read()


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def sections(name):
    """(heading, what is below it) of each heading of that page, in their order."""
    found = re.split(r"^##+ ", page(name), flags=re.MULTILINE)[1:]
    return [(heading, text) for heading, _, text in (s.partition("\n") for s in found) if text.strip()]


def recipes():
    return sections("recipes.md")


def configurations(text):
    """The gateway's whole files in it: other programs have YAML, too, and none of it begins so."""
    return [block for block in blocks(text, "yaml") if block.startswith("listeners:\n")]


def recipe(heading, of="recipes.md"):
    """The test drives the recipe of that heading, or the case of a page of docs/migrate."""

    def mark(drive):
        @functools.wraps(drive)
        def test(self):
            self.assertIn(heading, dict(sections(of)), "no such recipe")
            self.text = dict(sections(of))[heading]
            drive(self)

        test.recipe, test.page = heading, of
        return test

    return mark


class RecipeTest(SystemTest):
    text = ""  # of the recipe

    def adapted(self, text, origin="echo", trusting=False):
        """The file with addresses and paths of this test; with `trusting`, 127.0.0.1 is a proxy of ours."""
        files = self.directory()
        for name, content in FILES.items():
            files.file(name, content)
        self.files = files.path
        for shown, own in (("0.0.0.0:8080", "127.0.0.1:0"), ("[::]:8080", "127.0.0.1:0"),
                           ("127.0.0.1:9901", "127.0.0.1:0"), ("127.0.0.1:9000", origin),
                           ("/etc/gateway/", files.path + "/")):
            text = text.replace(shown, own)
        if trusting:
            line = "trusted_proxies: [10.0.0.0/8"
            text = text.replace(line, line + ", 127.0.0.1") if line in text else (
                "client: { trusted_proxies: [127.0.0.1] }\n" + text)
        return text

    def of_recipe(self, script=answer_ok, trusting=False):
        """A gateway by the recipe, in front of `origin_`."""
        self.origin_ = self.started(Origin(script))
        return self.before(self.origin_.address, trusting)

    def before(self, address, trusting=False, changed=lambda text: text):
        """A gateway by the recipe, in front of that server."""
        text = changed(self.adapted(configurations(self.text)[0], address, trusting))
        if REDIS in text:
            self.store = self.started(RedisServer())
            # A busy machine must not look like a store that fails.
            text = text.replace(f'"{REDIS}"', f'"{self.store.url}", timeout: 1s')
        return self.another(text)

    def another(self, text):
        gateway = self.gateway(text)
        if "redis://" in text:
            self.await_store(gateway)
        return gateway

    def await_store(self, gateway):
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="shared"), what="store")

    def connected(self, gateway, source=None):
        return self.enterContext(gateway.connect(source=source))

    def asking(self, gateway, *fields, target="/", method="GET", source=None):
        """One request more, each time it is called."""
        c = self.connected(gateway, source)
        return lambda: c.ask(target, list(fields), method)

    def assert_gives(self, ask, burst, rate):
        """Until a request is rejected, `burst` pass and what comes at `rate` a second meanwhile; that rejection."""
        began, passed = time.monotonic(), 0
        while (answer := ask()).status == 200:
            passed += 1
            self.assertLessEqual(passed, burst + rate * (time.monotonic() - began))
        self.assertEqual(answer.status, 429, answer.text)
        self.assertGreaterEqual(passed, burst)
        return answer

    def at_once(self, number, ask):
        """The answers to so many requests in parallel."""
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(ask())) for _ in range(number)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return answers

    def shell(self, gateway, command):
        """What it prints, run beside the gateway's configuration and access log."""
        here = os.path.dirname(gateway.config_path)
        command = command.replace("/etc/gateway/", self.files + "/")
        command = command.replace("127.0.0.1:9901", "%s:%d" % gateway.admin)
        program = f'gateway() {{ {shlex.quote(BINARY)} "$@"; }}\n'
        status, out, err = run_tool(["sh", "-euc", program + command], cwd=here)
        self.assertEqual((status, err), (0, ""), command)
        return out
