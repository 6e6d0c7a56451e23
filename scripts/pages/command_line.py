"""The commands and options of a gateway, read from its --help."""
import dataclasses
import re
import subprocess


@dataclasses.dataclass
class Argument:
    """An option, or a positional argument, whose `names` are one name in capitals then."""

    names: list
    value: str = ""  # what stands for its value in the help; empty: it has none
    choices: list = dataclasses.field(default_factory=list)
    default: str = ""
    required: bool = False
    repeated: bool = False
    description: str = ""

    @property
    def is_file(self):
        return self.value == "FILE"


@dataclasses.dataclass
class Command:
    name: str
    description: str
    positionals: list
    options: list


@dataclasses.dataclass
class Program:
    name: str
    version: str
    description: str
    options: list
    commands: list
    statuses: dict  # meanings of exit statuses
    schema: str


def _run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


# A line of a list: names of an option, or a word; then what stands for its value; then its description.
ROW = re.compile(r" {2,3}((?:-{1,2}[\w-]+(?:, *)?)+|[^\s-]\S*)(?: (\S.*?))?(?: {2,}(\S.*)?)?")


def _sections(text):
    """{heading: [[names, value, description]]} of the lists in a help text."""
    found, rows = {}, []
    for line in text.split("\n"):
        if re.fullmatch(r"[A-Za-z]+:", line):
            rows = found[line[:-1].title()] = []
        elif row := ROW.fullmatch(line):
            rows.append([part or "" for part in row.groups()])
        elif line.startswith("     ") and rows:  # the description goes on
            rows[-1][2] = f"{rows[-1][2]} {line.strip()}".strip()
    return found


def _argument(names, value, description):
    """`value` is such as "FORMAT:{text,json}=text REQUIRED"."""
    made = Argument(names=re.findall(r"[^\s,]+", names), description=description)
    made.required = "REQUIRED" in value
    made.repeated = value.startswith(("TEXT ...", "FILE ...")) or "any number" in description
    value = value.replace("REQUIRED", "").replace(" ...", "").strip()
    if choices := re.search(r":\{([^}]*)\}", value):
        made.choices = choices[1].split(",")
        value = value.replace(choices[0], "")
    if default := re.search(r"(?<=[A-Z])(?:=([a-z0-9]\S*)| ?\[(.*)\])$", value):
        made.default = default[1] or default[2]
        value = value[:default.start()]
    made.value = value.strip()
    return made


def _command(program, name, description):
    found = _sections(_run(program, name, "--help"))
    return Command(
        name, description,
        [_argument(*row) for row in found.get("Positionals", [])], [_argument(*row) for row in found["Options"]])


def read(program):
    text = _run(program, "--help")
    found = _sections(text)
    statuses = re.search(r"Exit status: (.*)\.", text)[1].split(", ")
    return Program(
        name="gateway",
        version=_run(program, "--version").split()[1],
        description=text.partition("\n")[0],
        options=[_argument(*row) for row in found["Options"]],
        commands=[_command(program, name, rest) for name, _, rest in found["Subcommands"]],
        statuses=dict(status.split(" ", 1) for status in statuses),
        schema=_run(program, "schema"),
    )
