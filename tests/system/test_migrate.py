"""The pages of docs/migrate: what is on them loads, and each case is driven. The page of each program that
can be had here has a module of its own."""
import json
import os
import re

import yaml

# Whose classes say which cases they drive.
import test_migrate_described  # noqa: F401
import test_migrate_express  # noqa: F401
import test_migrate_haproxy  # noqa: F401
import test_migrate_nginx  # noqa: F401
from harness import haproxy, nginx
from harness.gateway import BINARY, ROOT, run_command
from harness.migration import FOLDER, MigrationTest, cases, pages
from harness.process import free_port, run_tool
from harness.recipes import RecipeTest, blocks, configurations, page

# Two lines of the log that each page has a replay read: the second request was rejected.
COMBINED = ('203.0.113.7 - - [29/Nov/2026:10:00:00 +0000] "GET /shop/a HTTP/1.1" 200 5 "-" "curl/8.5"{0}\n'
            '203.0.113.7 - - [29/Nov/2026:10:00:00 +0000] "GET /shop/a HTTP/1.1" 429 5 "-" "curl/8.5"{0}\n')
HTTPLOG = 'Nov 29 10:00:00 lb haproxy[7]: 203.0.113.7:51432 [29/Nov/2026:10:00:00.{0}] web {1} 1/1/0/0/0 0/0 "GET / HTTP/1.1"\n'
TRAEFIK = ('{"ClientHost":"203.0.113.7","StartUTC":"2026-11-29T10:00:00.%s00Z","RequestMethod":"GET","RequestPath":"/",'
           '"RequestHost":"h","DownstreamStatus":%s,"Duration":1000000}\n')
ENVOY = ('{"client":"203.0.113.7","time":"2026-11-29T10:00:00.%sZ","method":"GET","host":"h","path":"/reports","status":"%s"}\n')
LOGS = {
    "nginx": COMBINED.format(""),
    "express-rate-limit": COMBINED.format(""),
    "kong": COMBINED.format(' kong_request_id: "0c1a2b"'),
    "ingress-nginx": COMBINED.format(" 77 0.003 [shop-web-80] [] 10.0.0.7:8080 5 0.002 200 0c1a2b"),
    "haproxy": HTTPLOG.format("115", "app/app 0/0/0/1/1 200 100 - - ----")
    + HTTPLOG.format("116", "web/<NOSRV> 0/-1/-1/-1/0 429 100 - - PR--"),
    "traefik": TRAEFIK % ("115", 200) + TRAEFIK % ("116", 429),
    "envoy": ENVOY % ("115", 200) + ENVOY % ("116", 429),
}


def subclasses(of):
    return {one for direct in of.__subclasses__() for one in {direct} | subclasses(direct)}


class Pages(RecipeTest):
    def test_each_case_is_driven_and_each_driver_has_a_case(self):
        for name in pages():
            with self.subTest(name):
                driven = {test.recipe for of in subclasses(MigrationTest) for test in vars(of).values()
                          if getattr(test, "page", "") == name}
                self.assertEqual(driven, {heading for heading, _ in cases(name)})
                self.assertTrue(driven)

    def test_each_begins_with_whom_it_is_for_and_has_the_same_parts(self):
        for name in pages():
            with self.subTest(name):
                title, _, first = page(name).split("\n", 3)[:3]
                self.assertRegex(title, "^# From ")
                self.assertRegex(first, "^For ")
                for heading in ("What differs", "Migrate, step by step"):
                    self.assertIn(f"\n## {heading}\n", page(name))
                for step in ("1. Replay", "2. Shadow", "3. Enforce", "4. Remove"):
                    self.assertIn(f"\n**{step}", page(name))
                self.assertIn("The way back", page(name))

    def test_each_file_of_ours_is_right_without_a_warning(self):
        for name in pages():
            for text in configurations(page(name)):
                with self.subTest(name, text=text):
                    path = self.directory().file("gateway.yaml", self.adapted(text))
                    self.assertEqual(run_command("check", "--config", path), (0, f"{path}: ok\n", ""))

    def test_yaml_of_others_is_yaml(self):
        for name in pages():
            for text in blocks(page(name), "yaml"):
                with self.subTest(name, text=text):
                    self.assertIsInstance(list(yaml.safe_load_all(text))[0], dict)

    def test_nginx_takes_what_is_its_own(self):
        texts = [text for name in pages() for text in blocks(page(name), "nginx")]
        self.assertGreater(len(texts), 8)
        for text in texts:
            with self.subTest(text):
                self.assertEqual(nginx.complaint(text.replace("listen 80;", f"listen 127.0.0.1:{free_port()};")), "")
        self.assertIn("unknown directive", nginx.complaint("limit_request;"))

    def test_haproxy_takes_what_is_its_own(self):
        texts = [text for name in pages() for text in blocks(page(name), "haproxy")]
        self.assertGreater(len(texts), 5)
        for text in texts:
            with self.subTest(text):
                self.assertEqual(haproxy.complaint(text.replace("bind :80\n", f"bind 127.0.0.1:{free_port()}\n")), "")
        self.assertNotEqual(haproxy.complaint("frontend x\n    limit_request\n"), "")

    def test_every_page_is_in_the_index_and_every_link_leads_somewhere(self):
        self.assertEqual(sorted(set(re.findall(r"\]\((\w[\w-]*\.md)\)", page(f"{FOLDER}/index.md")))),
                         [os.path.basename(name) for name in pages()])
        for name in [*pages(), f"{FOLDER}/index.md"]:
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page(name)):
                self.assertTrue(os.path.exists(os.path.join(ROOT, "docs", FOLDER, link)), (name, link))

    def test_each_replay_reads_the_log_of_its_peer(self):
        self.assertEqual(sorted(f"{FOLDER}/{name}.md" for name in LOGS), pages())
        for name, lines in LOGS.items():
            with self.subTest(name):
                text = page(f"{FOLDER}/{name}.md")
                command, = blocks(text, "sh")
                here = self.directory()
                # The key of a limit must be one that these logs tell, as must be what routes go by.
                own = self.adapted(configurations(text)[0])
                without_host = re.sub(r"match: \{ host: .* \}\n    limits", "limits", own)
                here.file("access.log", lines)
                command = re.sub(r"\S+\.log\b", "access.log", command)
                program = f'gateway() {{ {BINARY} "$@"; }}\n{command.strip()} --format json\n'

                def counted(file):
                    here.file("gateway.yaml", file)
                    status, out, err = run_tool(["sh", "-euc", program], cwd=here.path)
                    self.assertEqual((status, err), (0, ""))
                    said = json.loads(out)
                    return [said[n] for n in ("lines", "bad_lines", "allowed", "rejected", "unjudged", "unlimited")]

                self.assertEqual(counted(without_host), [2, 0, 2, 0, 0, 0])
                self.assertEqual(counted(own), [2, 0, 2, 0, 0, 0] if own == without_host else [2, 0, 0, 0, 2, 0])
