"""Editors with the YAML language server help to write a gateway.yaml: docs/configuration.md#editors."""
import itertools
import os
import re

from harness.case import SystemTest, only_as_shipped
from harness.documents import documented
from harness.editor import Editor
from harness.gateway import ROOT, run_command

FILE = """\
listeners:
  - address: 127.0.0.1:8080
limits:
  per_client:
    key: client_ip
    rate: 100/m
    |
routes:
  - limits: [per_client]
    upstream: app
upstreams:
  app: { servers: [echo] }
"""


@only_as_shipped
class Yaml(SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = self.directory()
        self.folder.file("gateway.schema.json", run_command("schema")[1])
        self.editor = self.started(Editor())
        self.names = (f"gateway{number}.yaml" for number in itertools.count())

    def edited(self, text):
        """A new file, and where | stands in it; its first line is that of the page."""
        text = documented("configuration.md", "yaml", "yaml-language-server") + text
        before, _, after = text.partition("|")
        position = before.count("\n"), len(before.rpartition("\n")[2])
        return self.folder.file(next(self.names), before + after), position

    def problems(self, text):
        return self.editor.open(self.edited(text)[0])

    def offered(self, text):
        path, position = self.edited(text)
        self.editor.open(path)
        return self.editor.completions(path, position)

    def test_the_example_has_no_problem(self):
        with open(os.path.join(ROOT, "gateway.yaml.example"), encoding="utf-8") as f:
            self.assertEqual(self.problems(f.read().replace("|", "/")), [])

    def test_keys_are_offered_with_what_they_mean(self):
        keys = self.offered(FILE)
        self.assertIn("tokens in a full bucket", keys["burst"])
        self.assertIn("when a shared store fails", keys["on_store_failure"])
        self.assertNotIn("rate", keys)  # it is there
        self.assertTrue(all(keys.values()), [key for key, told in keys.items() if not told])
        sections = self.offered("|\n")
        self.assertLessEqual({"listeners", "limits", "routes", "upstreams", "stores"}, sections.keys())
        self.assertTrue(all(sections.values()), [key for key, told in sections.items() if not told])

    def test_values_are_offered(self):
        self.assertEqual(set(self.offered(FILE.replace("|", "on_store_failure: |"))), {"open", "closed", "local"})

    def test_hover_says_what_a_key_means(self):
        for key, told in (("rate", "tokens that come back per"), ("limits", "how much of what is allowed"), ("routes", "which requests")):
            path, _ = self.edited(FILE.replace("    |\n", ""))
            self.editor.open(path)
            with open(path, encoding="utf-8") as f:
                lines = f.read().split("\n")
            line = next(i for i, text in enumerate(lines) if re.match(rf" *{key}:", text))
            self.assertIn(told, self.editor.hover(path, (line, lines[line].index(key) + 1)))

    def test_a_wrong_key_and_a_wrong_value_are_shown_where_they_stand(self):
        good = FILE.replace("    |\n", "")
        self.assertEqual(self.problems(good), [])
        self.assertEqual(self.problems(good.replace("    rate:", "    bursst: 3\n    rate:")),
                         [(6, "Property bursst is not allowed.")])
        ((line, said),) = self.problems(good.replace("100/m", "100/min"))
        self.assertEqual(line, 6)
        self.assertIn("does not match", said)
        ((line, said),) = self.problems(good.replace("    rate:", "    mode: off\n    rate:"))
        self.assertEqual(line, 6)
        self.assertIn('"enforce", "shadow"', said)
