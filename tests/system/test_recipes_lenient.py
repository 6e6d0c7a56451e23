"""Recipes with a path, before real servers that read paths loosely: whatever such a server takes for
the path has the path's limits."""
import json
import random
import re

from harness.backends import LENIENT_BACKENDS, lenient, missing
from harness.case import only_as_shipped
from harness.recipes import RecipeTest, blocks, recipes
from harness.spellings import in_loose_case

MATCH = re.compile(r"match: \{ (path|path_exact): (/[a-z/]+), ignore_case: true")
FIELDS = [("X-Api-Key", "a")]
QUERY = "?account=alice&to=1"
# Spellings of one path; each is tried in several mixtures of letter case.
FORMS = ("{0}", "{0}/", "/{0}", "{0};x", "{0}/.", "/./{0}", "{0}//")

LOGINS = [
    ("Somebody guesses passwords in a form", ("Content-Type", "application/x-www-form-urlencoded"), b"password=%s"),
    ("Somebody guesses passwords of an API", ("Content-Type", "application/json"), b'{"password":"%s"}'),
]


def paths_of(text):
    return [("=" if kind == "path_exact" else "") + path for kind, path in MATCH.findall(blocks(text, "yaml")[0])]


def unlimited(text):
    """So that no answer is a rejection: it is the route that is looked at."""
    return re.sub(r"rate: \d+/", "rate: 10000/", text)


@only_as_shipped
class Lenient(RecipeTest):
    def spellings(self, path, seed):
        pick = random.Random(seed)
        plain = [form.format(path.lstrip("=")) for form in FORMS]
        return [in_loose_case(pick, form) for form in plain for _ in range(6)]

    def started_lenient(self, name, paths):
        why_not = missing(name)
        if why_not:
            self.skipTest(why_not)
        return self.started(lenient(name, paths))

    def routes(self, name):
        for heading, text in recipes():
            paths = paths_of(text)
            if not paths or "decide:" in text:
                continue
            with self.subTest(heading):
                self.text = text
                server = self.started_lenient(name, paths)
                self.judge(self.before(server.address, changed=unlimited), paths)

    def judge(self, gateway, paths):
        asked = []
        for path in paths:
            for target in [path.lstrip("=")] + self.spellings(path, path):
                with gateway.connect() as c:
                    answer = c.ask(target + QUERY, FIELDS, "POST")
                handler = json.loads(answer["X-Read"] or "{}").get("handler")
                asked.append((path, target, handler, answer["X-Request-Id"]))
        lines = {line["request_id"]: line for line in gateway.log_lines(len(asked))}
        routes = [lines[identity].get("route") for *_, identity in asked]
        own = {path: routes[i] for i, (path, target, *_) in enumerate(asked) if target == path.lstrip("=")}
        read = 0
        for (_, target, handler, _), route in zip(asked, routes):
            if handler in own:
                read += 1
                self.assertEqual(route, own[handler], target)
        self.assertGreaterEqual(read, 10 * len(paths), "hardly anything reached the server's handler")

    def guesses(self, name):
        """However the path is spelt, and however many guess at once, no more than five reach the server."""
        for heading, fields, body in LOGINS:
            with self.subTest(heading):
                self.text = dict(recipes())[heading]
                (path,) = paths_of(self.text)
                server = self.started_lenient(name, [path])
                gateway = self.before(server.address)
                targets = iter([path.lstrip("=")] + self.spellings(path, 7))

                def guess(password=b"wrong", target=None):
                    with gateway.connect() as c:
                        answer = c.ask((target or next(targets)) + QUERY, [fields], "POST", body % password)
                        return answer.status, json.loads(answer["X-Read"] or "{}").get("handler")

                answers = self.at_once(30, guess)
                reached = [a for a in answers if a[1] == path]
                self.assertIn(len(reached), range(1, 6), answers)
                self.assertEqual(guess(target=path.lstrip("="))[0], 429)

    def successes(self, name):
        for heading, fields, body in LOGINS:
            with self.subTest(heading):
                self.text = dict(recipes())[heading]
                (path,) = paths_of(self.text)
                gateway = self.before(self.started_lenient(name, [path]).address)
                with gateway.connect() as c:
                    tried = [c.ask(path.lstrip("=") + QUERY, [fields], "POST", body % password).status
                             for password in [b"wrong"] * 4 + [b"right"] * 8 + [b"wrong"] * 6]
                self.assertEqual([s == 429 for s in tried], [False] * 17 + [True], tried)


for server_name in LENIENT_BACKENDS:
    for what in ("routes", "guesses", "successes"):
        setattr(Lenient, f"test_{what}_{server_name}", lambda self, w=what, n=server_name: getattr(self, w)(n))
