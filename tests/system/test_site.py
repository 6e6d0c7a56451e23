"""The site that scripts/docs makes of docs/: its links, and how it looks in a browser."""
import functools
import glob
import http.server
import os
import re
import threading
import xml.etree.ElementTree

from harness.browser import Browser
from harness.case import SystemTest, only_as_shipped
from harness.gateway import ROOT
from harness.links import broken_links, pages_in
from harness.process import run_tool

PAGES = sorted(glob.glob(f"{ROOT}/docs/**/*.md", recursive=True))
NARROW, WIDE = 360, 1280
# Shows what each page says in the page that is open: quicker than to open each.
WIDER_THAN_THE_WINDOW = """
    const shown = document.querySelector('.md-content__inner');
    const wide = [];
    for (const path of given) {
      const other = new DOMParser().parseFromString(await (await fetch(path)).text(), 'text/html');
      shown.replaceChildren(...other.querySelector('.md-content__inner').childNodes);
      if (document.querySelector('.md-content').scrollWidth > innerWidth) wide.push(path);
    }
    return wide;
"""


@only_as_shipped
class Documents(SystemTest):
    def test_links_lead_to_files_as_they_stand(self):
        """As in a viewer of the repository; tests/tidy/contents.py holds their anchors."""
        count = 0
        for path in [*PAGES, *(os.path.join(ROOT, name) for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))]:
            with open(path, encoding="utf-8") as f:
                text = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", f.read())
            for target in re.findall(r"\]\(([^)#\s]+)", text):
                if "://" not in target:
                    count += 1
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), target)), (path, target))
        self.assertGreater(count, 100)

    def test_pictures_of_concepts_are_readable_on_a_phone(self):
        with open(f"{ROOT}/docs/concepts.md", encoding="utf-8") as f:
            pictures = re.findall(r"!\[[^\]]+\]\((pictures/[^)]+\.svg)\)", f.read())
        self.assertEqual(len(pictures), 3)
        for name in pictures:
            with open(f"{ROOT}/docs/{name}", encoding="utf-8") as f:
                text = f.read()
            width = float(xml.etree.ElementTree.fromstring(text).get("width"))
            smallest = min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", text))
            self.assertGreaterEqual(smallest * (NARROW - 32) / width, 10, name)
            self.assertIn("prefers-color-scheme: dark", text)
            self.assertIn("<title", text)


@only_as_shipped
class Script(SystemTest):
    def test_wrong_usage_is_told_before_anything_is_installed(self):
        script = os.path.join(ROOT, "scripts", "docs")
        self.assertEqual(run_tool([script, "--help"]), (0, "usage: scripts/docs [--serve]\n", ""))
        for wrong in ("--wrong", "site"):
            status, out, err = run_tool([script, wrong])
            self.assertEqual((status, out), (2, ""))
            self.assertIn("usage: scripts/docs", err)


@only_as_shipped
class Site(SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.directory().path, "site")
        made = run_tool(["/usr/bin/python3", "-B", os.path.join(ROOT, "scripts", "pages", "render_site.py"), self.folder])
        self.assertEqual(made, (0, "", ""))

    def served(self):
        """Its address, from a server of plain files."""
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    def test_each_page_begins_with_whom_it_is_for(self):
        sources = glob.glob(f"{self.folder}-pages/**/*.md", recursive=True)
        self.assertGreater(len(sources), len(PAGES))
        for path in sources:
            with open(path, encoding="utf-8") as f:
                title, empty, first = f.readline(), f.readline(), f.readline()
            self.assertRegex(title, "^# ", path)
            self.assertEqual(empty, "\n", path)
            self.assertRegex(first, r"^(This page is f|F)or \w", path)

    def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(self):
        pages = pages_in(self.folder)
        self.assertGreater(len(pages), len(PAGES))
        self.assertEqual(broken_links(self.folder, pages), [])
        self.assertEqual([(path, load) for path, page in pages.items() for load in page.loads if "//" in load], [])
        for page in ("recipes", "concepts", "configuration", "gateway", "changes", "example"):
            self.assertIn(f"{page}.html", pages["index.html"].links)
        self.assertIn("recipes.html#one-client-sends-more-than-its-share", pages["index.html"].links)

    def test_in_a_browser(self):
        address = self.served()
        b = self.started(Browser())
        b.run("heard.requests = []")
        b.run("await page.goto(given, {waitUntil: 'load'})", address + "index.html")
        for width in (NARROW, WIDE):
            b.run("await page.setViewport({width: given, height: 800})", width)
            self.assertEqual(b.evaluate(WIDER_THAN_THE_WINDOW, sorted(pages_in(self.folder))), [], width)
        for name in ("index.html", "concepts.html", "example.html"):
            for scheme, shown in (("light", "default"), ("dark", "slate")):
                b.run("await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: given}])", scheme)
                b.until("!given || document.body.dataset.mdColorScheme === given", given=name != "index.html" and shown)
                b.run("await page.goto(given, {waitUntil: 'load'})", address + name)
                self.assertEqual(b.evaluate("return document.body.dataset.mdColorScheme"), shown)
                seen = [found for found in b.complaints() if found[0] in ("color-contrast", "image-alt")]
                self.assertEqual(seen, [], (scheme, name))
        b.run("await page.goto(given, {waitUntil: 'load'})", address + "index.html")
        b.run("await page.click('.md-search__input'); await page.keyboard.type('token bucket')")
        found = b.until(
            "[...document.querySelectorAll('.md-search-result__link')].map((a) => a.href)"
            ".find((link) => link.endsWith('#how-a-token-bucket-fills'))", 20)
        b.run("await page.goto(given, {waitUntil: 'load'})", found)
        self.assertIn("Tokens come one by one", b.evaluate("return document.body.innerText"))
        self.assertEqual(b.heard(), [])
        self.assertEqual([r for r in b.run("return heard.requests") if not r.startswith((address, "data:", "blob:"))], [])
