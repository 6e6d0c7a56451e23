"""Recipes whose limits read bodies: each does to its clients what the page promises."""
import datetime
import json

from harness.model_shapes import Answering, openai, openai_stream
from harness.origin import Origin
from harness.recipes import RecipeTest, recipe, recipes

JSON = ("Content-Type", "application/json")
KEY = ("Authorization", "Bearer sk-a")
SSE = "text/event-stream"


class Models(RecipeTest):
    def of_model(self, **options):
        """A gateway by the recipe, before a model that says what `self.answers` has."""
        self.answers = Answering()
        self.model = self.started(Origin(self.answers))
        return self.before(self.model.address, **options)

    def asking_for(self, gateway, key=KEY, body=b'{"max_tokens":100}'):
        """One request more, each time it is called."""
        c = self.connected(gateway)
        return lambda: c.ask("/v1/chat/completions", [key, JSON], "POST", body)

    @recipe("Each key has so many tokens a minute")
    def test_tokens_a_minute(self):
        g = self.of_model()
        ask = self.asking_for(g)
        self.answers.say("application/json", openai(2000, 3000))
        first = ask()
        self.assertEqual((first.status, first.body), (200, openai(2000, 3000)))
        self.assertEqual(first["x-ratelimit-limit-tokens"], "100000")
        self.answers.say(SSE, openai_stream(30_000, 20_000))
        second = ask()
        # 5000 are spent, and 1667 come back each second.
        self.assertIn(int(second["x-ratelimit-remaining-tokens"]), range(95_000 - 105, 100_001 - 105))
        self.answers.say("application/json", openai(150_000, 50_001))
        self.assertEqual(ask().status, 200)
        indebted = ask()
        self.assertEqual(indebted.status, 429)
        error = json.loads(indebted.body)["error"]
        self.assertEqual(error["code"], "rate_limit_exceeded")
        self.assertGreater(int(indebted["Retry-After"]), 60)
        self.assertEqual(self.asking_for(g, ("Authorization", "Bearer sk-b"))().status, 200, "another key")
        self.assertEqual(g.get("/").status, 400, "no key")

    def test_a_client_that_leaves_pays_its_reserve(self):
        self.text = dict(recipes())["Each key has so many tokens a minute"]
        g = self.of_model()
        stream = openai_stream(1, 1)
        self.answers.say(SSE, stream[:200], stream[200:], waits=True)
        with g.connect() as c:
            c.request("/", [KEY, JSON], "POST", b'{"max_tokens":60000}')
            c.read_until(b"chat.completion.chunk")
        self.answers.let_go()
        self.answers.ended.acquire(timeout=20)
        self.answers.say("application/json", openai(1, 1))
        left = int(self.asking_for(g, body=b'{"max_tokens":0}')()["x-ratelimit-remaining-tokens"])
        self.assertLess(left, 80_000)

    @recipe("A budget of 50 dollars a month")
    def test_money(self):
        g = self.of_model()
        ask = self.asking_for(g)
        seen = []
        for given, made in ((10_000_000, 0), (0, 1_000_000), (1_000_000, 0), (0, 1_000_000)):
            self.answers.say("application/json", openai(given, made))
            answer = ask()
            self.assertEqual(answer.status, 200)
            seen.append((int(answer["X-RateLimit-Remaining"]), answer["X-RateLimit-Warning"]))
        # Each sees what was left when it came, less its reserve.
        self.assertEqual([left for left, _ in seen], [49_980_000, 19_980_000, 4_980_000, 1_980_000])
        self.assertEqual([warned for _, warned in seen], [None, None, "budget", "budget"])
        with open(g.config_path, encoding="utf-8") as f:
            again = self.another(f.read())
        spent = self.asking_for(again)()
        self.assertEqual(spent.status, 429)
        now = datetime.datetime.now(datetime.timezone.utc)
        month = datetime.datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=now.tzinfo)
        after = datetime.datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=now.tzinfo)
        back = now.timestamp() + int(spent["Retry-After"])
        self.assertTrue(any(abs(back - first.timestamp()) < 10 for first in (month, after)), spent["Retry-After"])

    @recipe("Beyond the quota a cheaper model answers")
    def test_a_cheaper_model(self):
        small = self.started(Origin(self.small_model))
        g = self.of_model(changed=lambda text: text.replace("127.0.0.1:9001", small.address))
        ask = self.asking_for(g)
        self.answers.say("application/json", openai(90_000, 5_000))
        self.assertEqual(ask().status, 200)
        self.answers.say("application/json", openai(9_000, 5_000))
        self.assertEqual(ask().body, openai(9_000, 5_000))
        for _ in range(3):
            cheap = ask()
            self.assertEqual((cheap.status, cheap.body), (200, openai(1, 1, "cheap")))
            self.assertEqual(small.last()["X-Over-Limit"], "quota")
            self.assertEqual(small.last().body, b'{"max_tokens":100}')
        self.assertEqual(len(self.model.requests), 2)
        self.assertIsNone(self.model.last()["X-Over-Limit"])
        other = self.asking_for(g, ("Authorization", "Bearer sk-b"))
        self.assertEqual(other().body, openai(9_000, 5_000))

    @staticmethod
    def small_model(peer, request):
        peer.read_body(request)
        peer.reply(body=openai(1, 1, "cheap"), fields=[("Content-Type", "application/json")])


class Tools(RecipeTest):
    @recipe("Each tool of an MCP server has its limit")
    def test_tools(self):
        g = self.of_recipe()
        c = self.connected(g)

        def call(name, identity=1):
            body = {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": {"name": name}}
            answer = c.ask("/mcp", [JSON], "POST", json.dumps(body).encode())
            return json.loads(answer.body) if answer.body != b"ok" else "ok"

        images = [call("generate_image", n) for n in range(7)]
        self.assertEqual(images[:5], ["ok"] * 5)
        self.assertEqual([i["id"] for i in images[5:]], [5, 6])
        self.assertTrue(images[5]["error"]["message"])
        self.assertEqual(call("run_query"), "ok", "another tool")
        searches = [call("search") for _ in range(70)]
        self.assertIn(searches.index(next(s for s in searches if s != "ok")), range(60, 65))
        lists = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        self.assertEqual(c.ask("/mcp", [JSON], "POST", lists).status, 200)
        self.assertEqual(c.ask("/mcp", [JSON], "POST", b'{"jsonrpc":"2.0","id":1}').status, 200)
        for doubtful in (b'{"method":"tools/list","method":"tools/call"}', b"[" + lists + b"]", b"{"):
            self.assertEqual(c.ask("/mcp", [JSON], "POST", doubtful).status, 400, doubtful)
        self.assertEqual(c.ask("/mcp", [JSON], "POST", b'{"x":"' + b"x" * 70000 + b'","method":"tools/call"}').status, 413)
