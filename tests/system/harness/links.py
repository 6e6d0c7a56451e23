"""What the HTML pages of a folder link to and load."""
import os
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

# Attributes with an address: those that a reader follows, and those that a browser loads by itself.
FOLLOWED = {("a", "href")}
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.names, self.links, self.loads = set(), set(), set()
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.names.add(value)
            elif (tag, name) in FOLLOWED and value:
                self.links.add(value)
            elif (tag, name) in LOADED and value and ("rel", "canonical") not in attrs:
                self.loads.add(value)


def pages_in(folder):
    """{path: Page} of every page, by its path in the folder."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(where, name)
                found[os.path.relpath(path, folder)] = Page(path)
    return found


def broken_links(folder, pages):
    """(page, link) of each that leads to no file of the folder, or to no place in its page."""
    broken = []
    for path, page in pages.items():
        for link in page.links | page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or (path == "404.html" and link.startswith("/")):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
            if os.path.isdir(os.path.join(folder, target)):
                target = os.path.normpath(os.path.join(target, "index.html"))
            if not os.path.isfile(os.path.join(folder, target)):
                broken.append((path, link))
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                broken.append((path, link))
    return sorted(broken)
