"""The page of the admin API in Chromium: what somebody sees who was woken at night."""
import gzip
import re
import time

from harness.browser import Browser
from harness.case import only_as_shipped
from harness.client import Connection
from harness.process import wait_until
from harness.redis_server import RedisServer
from test_stream import TOKEN, StreamTest

MOST_BYTES = 150 * 1024
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


class Files(StreamTest):
    def test_are_embedded_small_and_under_a_strict_policy(self):
        g = self.serving()
        paths, total = ["/"], 0
        for path in paths:
            with Connection(g.admin) as c:
                answer = c.ask(path, [("Accept-Encoding", "gzip")])
            self.assertEqual(answer.status, 200, path)
            self.assertEqual(answer["Content-Encoding"], "gzip")
            total += len(answer.body)
            policy = answer["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("http", policy)
            self.assertEqual(answer["X-Content-Type-Options"], "nosniff")
            text = gzip.decompress(answer.body).decode()
            with Connection(g.admin) as c:
                self.assertEqual(c.ask(path).text, text)
            if path == "/":
                self.assertNotRegex(text, r"<script>|<style|style=|\son\w+=")
                self.assertNotRegex(text, r"(?:src|href)=\"(?:https?:)?//")
            if not path.endswith(("chart.js", ".txt")):
                found = re.findall(r"(?:src|href)=\"(page/[^\"]+)\"", text)
                found += ["page/" + name for name in re.findall(r"from '\./([^']+)'", text)]
                paths += ["/" + name for name in dict.fromkeys(found) if "/" + name not in paths]
        self.assertIn("/page/chart.js", paths)
        self.assertIn("/page/licences.txt", paths)
        self.assertLess(total, MOST_BYTES)

    def test_other_methods_and_paths_are_refused(self):
        g = self.serving()
        with Connection(g.admin) as c:
            self.assertEqual(c.ask("/page/other.js").status, 404)
        with Connection(g.admin) as c:
            self.assertIn(c.ask("/", method="POST", body=b"").status, (404, 405))
        with Connection(g.admin) as c:
            c.request("/", method="HEAD")
            self.assertEqual(c.response(head=True).status, 200)


class PageTest(StreamTest):
    def browser(self):
        return self.started(Browser())

    def opened(self, gateway, browser=None, width=1200, height=900):
        browser = browser or self.browser()
        browser.run(
            "await page.setViewport({width: given[1], height: given[2]});"
            "await page.goto(given[0], {waitUntil: 'load'});",
            [f"http://127.0.0.1:{gateway.admin[1]}/", width, height])
        browser.until("document.documentElement.dataset.link === 'live'")
        return browser

    def with_token(self, browser, token=TOKEN):
        browser.run(
            "await page.focus('input[name=token]'); await page.keyboard.type(given);"
            "await page.keyboard.press('Enter');", token)
        if token == TOKEN:
            browser.until("document.getElementById('token-says').textContent.includes('in use')")

    def click(self, browser, selector):
        browser.run("await page.click(given)", selector)

    def says(self, browser, selector, *texts, seconds=10):
        """Waits until the element shows all these texts; its text."""
        return browser.until(
            "(() => { const e = document.querySelector(given[0]);"
            " return e && given[1].every((t) => e.textContent.includes(t)) && e.textContent; })()",
            seconds, [selector, texts])


@only_as_shipped
class Seen(PageTest):
    alone = True  # what is measured is how soon somebody sees it

    def test_live_within_two_seconds_with_the_past(self):
        g = self.serving()
        wait_until(lambda: g.get().status == 429, what="a rejection")
        viewer = self.viewer(g)
        viewer.until(lambda v: len(v.events) >= 4)
        b = self.browser()
        self.opened(g, b)  # the browser's own files are read by now
        began = time.monotonic()
        self.opened(g, b)
        took = time.monotonic() - began
        paint = b.evaluate("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
        self.assertLess(paint, 1000)
        self.assertLess(took, 2)
        self.says(b, "#rejections", "per_client", "bucket ")
        self.says(b, "#limits", "5/h")
        past = b.evaluate("return Chart.getChart('requests-chart').data.datasets[0].data.length")
        self.assertGreaterEqual(past, 4)
        self.assertEqual(b.heard(), [])

    def test_redis_killed_is_seen_and_named_within_three_seconds(self):
        redis = self.started(RedisServer())
        g = self.serving(
            extra=f"stores: {{ shared: {{ url: '{redis.url}', timeout: 100ms }} }}\n",
            limits="limits: { l: { key: client_ip, rate: 900/s, store: shared } }\n", names="l")
        b = self.opened(g)
        self.says(b, "#stores", "shared", "up", "closed")
        redis.kill()
        for _ in range(5):
            g.get()
        self.says(b, "#findings", "Store", "shared is down: unreachable", "Since", seconds=3)
        self.says(b, "#stores", "shared", "down", seconds=3)
        redis.start()
        self.says(b, "#findings", "Nothing.", seconds=30)

    def test_upstream_killed_is_seen_and_named_within_three_seconds(self):
        origin = self.origin()
        g = self.serving(
            upstream=origin.address, limits="limits: { per_client: { key: client_ip, rate: 900/s } }\n")
        b = self.opened(g)
        self.says(b, "#servers", origin.address, "up")
        origin.stop()
        for _ in range(8):
            g.get()
        self.says(b, "#findings", "Upstream", "connect", seconds=3)

    def test_flooding_client_is_named_within_three_seconds(self):
        g = self.serving()
        b = self.opened(g)
        self.with_token(b)
        self.says(b, "#findings", "Nothing.")
        self.rejected(g, 200)
        self.says(b, "#findings", "Client", "127.0.0.1 has 195 requests rejected by limit per_client", seconds=3)
        self.says(b, "#limits", "127.0.0.1")

    def test_why_the_stream_is_refused_while_there_are_too_many_viewers(self):
        g = self.serving()
        crowd = [self.viewer(g) for _ in range(32)]
        b = self.browser()
        b.run("await page.goto(given, {waitUntil: 'load'})", f"http://127.0.0.1:{g.admin[1]}/")
        self.says(b, "#link", "refused: the stream has as many viewers")
        crowd[0].stop()
        self.says(b, "#link", "live")

    def test_rejections_that_came_while_somebody_pointed_at_the_table(self):
        g = self.serving()
        b = self.opened(g)
        self.rejected(g)
        b.until("document.querySelectorAll('#rejections tbody tr').length === 3")
        b.run("await page.hover('#rejections tbody tr')")
        with g.connect() as c:
            self.assertEqual(c.ask("/").status, 429)
        self.viewer(g).until(lambda v: len(v.rejections) == 4)
        b.run("await page.mouse.move(0, 0)")
        b.until("document.querySelectorAll('#rejections tbody tr').length === 4")

    def test_gateway_gone_and_back(self):
        g = self.serving()
        b = self.opened(g)
        g.freeze()
        self.says(b, "#link", "does not answer", seconds=15)
        g.thaw()
        self.says(b, "#link", "live")


@only_as_shipped
class Acted(PageTest):
    def test_explain_grant_reset_ban_and_unban_from_a_rejection_by_clicking(self):
        g = self.serving()
        b = self.opened(g)
        self.with_token(b)
        self.rejected(g, target="/some/path")
        self.says(b, "#rejections", "127.0.0.1")
        self.click(b, "#rejections button")
        self.says(b, "#why-text", "/some/path", "127.0.0.1", "per_client: rejected", "429")
        self.says(b, "#bucket-says", "0 of 5 tokens", "not banned")
        self.click(b, "[data-call=grant]")
        self.says(b, "#bucket-says", "Granted: 1 of 5")
        self.click(b, "[data-call=reset]")
        self.says(b, "#bucket-says", "Reset: 5 of 5")
        self.click(b, "[data-call=ban]")
        self.says(b, "#bucket-says", "banned until")
        self.assertEqual(g.get().status, 429)
        self.click(b, "[data-call=unban]")
        self.says(b, "#bucket-says", "Unbanned", "not banned")
        self.assertEqual(g.get().status, 200)
        self.assertEqual(b.heard(), [])

    def test_without_the_token_nothing_can_be_changed_and_nobody_is_named(self):
        g = self.serving()
        b = self.opened(g)
        self.rejected(g)
        self.says(b, "#rejections", "bucket ")
        self.assertNotIn("127.0.0.1", b.evaluate("return document.getElementById('rejections').textContent"))
        self.click(b, "#rejections button")
        self.says(b, "#why", "5/h", "With the token")
        self.assertTrue(b.evaluate("return document.getElementById('bucket-actions').disabled"))

    def test_a_wrong_token_is_told_and_forgotten(self):
        g = self.serving()
        b = self.opened(g)
        self.with_token(b, "wrong")
        self.says(b, "#token-says", "refused")
        self.says(b, "#link", "live")
        self.assertEqual(b.evaluate("return document.querySelector('[name=token]').value"), "")
        self.assertEqual(b.evaluate("return [localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""])

    def test_by_keyboard_alone(self):
        g = self.serving()
        b = self.opened(g)
        self.with_token(b)
        self.rejected(g)
        self.says(b, "#rejections", "127.0.0.1")
        on = b.run(
            "for (let i = 0; i < 60; ++i) { await page.keyboard.press('Tab');"
            " if (await page.evaluate(() => document.activeElement.textContent === 'Why?')) break; }"
            "await page.keyboard.press('Enter');"
            "return page.evaluate(() => document.getElementById('why').open)")
        self.assertTrue(on)
        self.says(b, "#bucket-says", "0 of 5")
        b.run("for (let i = 0; i < 20; ++i) { await page.keyboard.press('Tab');"
              " if (await page.evaluate(() => document.activeElement.dataset.call === 'reset')) break; }"
              "await page.keyboard.press('Enter');")
        self.says(b, "#bucket-says", "Reset: 5 of 5")
        b.run("await page.keyboard.press('Escape')")
        b.until("!document.getElementById('why').open")
        self.assertEqual(b.evaluate("return document.activeElement.textContent"), "Why?")

    def test_hostile_values_do_nothing(self):
        g = self.serving(
            limits="limits: { per_client: { key: [client_ip, path], rate: 1/h },"
            " per_agent: { key: header:user-agent, missing_key: skip, rate: 1/h } }\n", names="per_client, per_agent")
        b = self.opened(g)
        self.with_token(b)
        for path in ("/", "/<script>alert(1)</script>".replace("<", "%3C"), "/%e2%80%aegnp.exe", "/\x80\xff"):
            for agent in (HOSTILE, "\u202egnp.exe", "x" * 7000):
                with g.connect() as c:
                    c.send(b"GET " + path.encode("latin-1") + b" HTTP/1.1\r\nHost: gateway.test\r\nUser-Agent: "
                           + agent.encode() + b"\r\nX-Request-Id: " + HOSTILE.encode() + b"\r\n\r\n")
                    c.response()
        self.says(b, "#rejections", "per_client", "127.0.0.1")
        self.assertEqual(b.evaluate("return document.querySelectorAll('table img, table script').length"), 0)
        self.assertEqual(b.heard(), [])


@only_as_shipped
class Shaped(PageTest):
    def filled(self, **options):
        g = self.serving()
        b = self.opened(g, **options)
        self.with_token(b)
        self.rejected(g, 60)
        self.says(b, "#rejections", "127.0.0.1")
        return b

    def test_a_phone_sees_all_without_scrolling_sideways(self):
        b = self.filled(width=360, height=740)
        self.assertLessEqual(b.evaluate("return document.documentElement.scrollWidth"), 360)
        self.click(b, "#rejections button")
        self.says(b, "#bucket-says", "of 5")
        self.assertLessEqual(b.evaluate("return document.documentElement.scrollWidth"), 360)

    def test_axe_finds_nothing_in_light_and_dark_open_and_closed(self):
        b = self.filled()
        for scheme in ("light", "dark"):
            b.run("await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: given}])", scheme)
            self.assertEqual(b.complaints(), [], scheme)
        self.click(b, "#rejections button")
        self.says(b, "#bucket-says", "of 5")
        for scheme in ("light", "dark"):
            b.run("await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: given}])", scheme)
            self.assertEqual(b.complaints(), [], scheme)

    def test_light_and_dark_differ(self):
        b = self.filled()
        papers = []
        for scheme in ("light", "dark"):
            b.run("await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: given}])", scheme)
            papers.append(b.evaluate("return getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(set(papers)), 2)
