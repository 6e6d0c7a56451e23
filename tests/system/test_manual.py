"""Manual pages and completions: complete, well-formed, and at work in real shells."""
import json
import os
import re

from harness.case import SystemTest, only_as_shipped
from harness.gateway import BINARY, ROOT, run_command
from harness.process import run_tool, tool, wait_until
from harness.tmux import Terminal

SCRIPT = os.path.join(ROOT, "scripts", "manual")
COMMANDS = ("run", "check", "print", "explain", "top", "health", "migrate", "replay", "schema")


def options_of(*command):
    """Every option in a help text."""
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", run_command(*command, "--help")[1].partition("\nOptions:")[2]))


def keys_of(schema):
    """Every key in the schema, wherever it stands."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    names = schema.get("properties", {})
    inner = [value for key, value in schema.items() if key not in ("properties", "if", "allOf", "$defs", "then", "else")]
    inner += [schema.get("then"), schema.get("else")] + list(names.values())
    return set(names).union(*map(keys_of, inner))


class Manual(SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = self.directory().path
        self.assertEqual(run_tool([SCRIPT, BINARY, self.folder]), (0, "", ""))

    def text(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as f:
            return f.read()


@only_as_shipped
class Pages(Manual):
    def rendered(self, name, width="5000"):
        """As a terminal of that width shows it."""
        status, out, err = run_tool(
            ["man", "--warnings", "-E", "UTF-8", "-l", "-P", "cat", os.path.join(self.folder, name)],
            env=os.environ | {"MANWIDTH": width, "MAN_KEEP_FORMATTING": "", "LC_ALL": "C.UTF-8"})
        self.assertEqual((status, err), (0, ""))
        return "".join(out.splitlines(keepends=True)[1:-1])  # between its header and footer

    def test_variables_of_the_environment_are_told(self):
        told = self.rendered("gateway.1").partition("\nENVIRONMENT\n")[2].partition("\nEXAMPLES\n")[0]
        self.assertEqual([line.split()[0] for line in told.splitlines() if line.startswith("       ") and line[7] != " "],
                         ["NO_COLOR", "NAME"])

    def test_they_render_without_warnings(self):
        for name in ("gateway.1", "gateway.yaml.5"):
            self.rendered(name)
            for width in ("60", "80"):
                self.rendered(name, width)
            path = os.path.join(self.folder, name)
            self.assertEqual(run_tool(["groff", "-man", "-Tutf8", "-ww", "-z", path]), (0, "", ""))
            self.assertRegex(run_tool(["lexgrog", path])[1], r'"gateway[^ ]* - [^"]+"')

    def test_they_have_the_sections_that_readers_look_for(self):
        sections = re.findall(r"(?m)^[A-Z].*$", self.rendered("gateway.1"))
        self.assertEqual(sections, ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "SIGNALS", "EXIT STATUS",
                                    "FILES", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"])
        sections = re.findall(r"(?m)^[A-Z].*$", self.rendered("gateway.yaml.5"))
        self.assertEqual(sections, ["NAME", "SYNOPSIS", "DESCRIPTION", "VALUES", "KEYS", "FILES", "EXAMPLES", "SEE ALSO"])

    def test_gateway_1_has_every_command_option_signal_and_status(self):
        page = self.rendered("gateway.1")
        self.assertEqual(re.findall(r"(?m)^   gateway (\w+)$", page), list(COMMANDS))
        for command in COMMANDS:
            part = re.search(rf"(?ms)^   gateway {command}$.*?(?=^   gateway|^[A-Z])", page)[0]
            for option in options_of(command) - {"-h", "--help"}:
                self.assertRegex(part, rf"(?m)^       {option}( |$)")
        for word in [*options_of() - {"-h"}, "SIGHUP", "SIGTERM, SIGINT, SIGQUIT", "SIGUSR2", "0", "1", "2"]:
            self.assertRegex(page, rf"(?m)^       (-h, )?{re.escape(word)}( |$)")

    def test_gateway_yaml_5_has_every_key_with_its_meaning(self):
        page = self.rendered("gateway.yaml.5")
        entries = re.findall(r"(?m)^       ([\w.\[\]]+)\n              (\S.*)\n              (\S.*)$", page)
        entries += re.findall(r"(?m)^   (\w+)()\n       (\S.*)$", page)
        self.assertGreater(len(entries), 200)
        last = {path.rpartition(".")[2] for path, _, _ in entries}
        self.assertEqual(keys_of(json.loads(run_command("schema")[1])) - {"env"} - last, set())
        facts = {path: (kind, meaning) for path, kind, meaning in entries}
        self.assertEqual(facts["stores.NAME.timeout"][0], "Time, 1ms to 10s, default 25ms.")
        self.assertEqual(facts["http.max_header_bytes"][0], "Size, 256 to 1MiB, default 16KiB.")
        self.assertEqual(facts["limits.NAME.burst"][0], "Mapping or integer, 1 to 1000000000000, default the count in rate.")
        self.assertEqual(facts["listeners[].tls.certificates[].key"][0], "Text, a path of a PEM file, required.")
        self.assertIn("shadow decides", facts["limits.NAME.mode"][1])
        self.assertNotRegex(page, r"\(below\)|\]\(|`")

    def test_the_date_is_that_of_the_source(self):
        made = self.directory().path
        run_tool([SCRIPT, BINARY, made], env=os.environ | {"SOURCE_DATE_EPOCH": "86400"})
        with open(os.path.join(made, "gateway.1"), encoding="utf-8") as f:
            self.assertIn('"1970-01-02"', f.readline())
        self.assertIn('1 "" "gateway ', self.text("gateway.1").partition("\n")[0])

    def test_help_and_wrong_usage(self):
        status, out, err = run_tool([SCRIPT, "--help"])
        self.assertEqual((status, err), (0, ""))
        self.assertIn("usage: scripts/manual", out)
        self.assertEqual(run_tool([SCRIPT, "--wrong"])[:2], (1, ""))


@only_as_shipped
class Fish(Manual):
    def completed(self, line):
        path = os.path.join(self.folder, "gateway.fish")
        status, out, err = run_tool(
            ["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"], env=os.environ | {"HOME": self.folder})
        self.assertEqual((status, err), (0, ""))
        return dict(line.split("\t") if "\t" in line else (line, "") for line in out.splitlines())

    def test_commands_options_and_values(self):
        self.assertEqual(set(self.completed("gateway ")), set(COMMANDS))
        self.assertIn("every problem", self.completed("gateway che")["check"])
        for command in COMMANDS:
            options = {word for word in options_of(command) if word.startswith("--")}
            self.assertEqual({word.rstrip("=") for word in self.completed(f"gateway {command} --")}, options)
        self.assertEqual(set(self.completed("gateway replay --format ")), {"text", "json"})
        self.assertEqual(set(self.completed("gateway top --admin ")), set())

    def test_files(self):
        path = self.directory().file("my.yaml", "")
        for line in ("gateway run --config ", "gateway check ", "gateway replay a.log "):
            self.assertEqual(set(self.completed(line + path[:-4])), {path})
        self.assertEqual(set(self.completed("gateway explain " + path[:-4])), set())


class Typed:
    """What a shell in a terminal shows when somebody types a line and Tab."""

    def shell(self):
        """The words that start it, and its environment."""
        raise NotImplementedError

    def typed(self, line, *texts):
        terminal = self.terminal
        terminal.keys("C-u", "C-l")
        wait_until(lambda: terminal.screen().split() == ["%%"], what="an empty line")
        terminal.keys("-l", line)
        terminal.keys("Tab", "Tab")
        return terminal.shows(*texts)

    def setUp(self):
        super().setUp()
        self.files = self.directory()
        self.files.file("my-config.yaml", "")
        self.files.file("access.log", "")
        words, environment = self.shell()
        self.terminal = self.started(Terminal(words, 200, 50, {"PS1": "%% ", "HOME": self.files.path, **environment}))
        self.terminal.shows("%%")

    def test_commands_options_values_and_files(self):
        self.typed("gateway ", *COMMANDS)
        self.typed("gateway repl", "gateway replay")
        for command in COMMANDS:
            self.typed(f"gateway {command} --", *(word for word in options_of(command) if word.startswith("--")))
        self.typed("gateway replay --format ", "text", "json")
        self.typed("gateway replay --format=js", "--format=json")
        for line in ("gateway run --config ", "gateway check ", "gateway replay --config=", "gateway top --once --config "):
            self.typed(line + self.files.path + "/my", "/my-config.yaml")
        self.typed(f"gateway replay --config c --suggest 1% {self.files.path}/acc", "/access.log")
        self.assertNotIn("my-config", self.typed(f"gateway explain GET {self.files.path}/my", "/my"))


@only_as_shipped
class Bash(Typed, Manual):
    def shell(self):
        start = self.files.file("start", f". {self.folder}/gateway.bash\nPS1='%% '\n")
        return [tool("bash"), "--noprofile", "--rcfile", start, "-i"], {}


@only_as_shipped
class Zsh(Typed, Manual):
    def shell(self):
        self.files.file(".zshrc", f"fpath=({self.folder} $fpath)\nautoload -U compinit\ncompinit -u -D\nPS1='%%%% '\n")
        return [tool("zsh"), "-i"], {"ZDOTDIR": self.files.path}
