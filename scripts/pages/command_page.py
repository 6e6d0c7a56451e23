"""gateway(1)"""
import documents
import roff


def write(gateway):
    page = roff.Page(gateway.name, 1, gateway.version)
    page.name(gateway.name, gateway.description.removeprefix("An "))
    page.heading("Synopsis")
    for command in gateway.commands:
        page.paragraph(_synopsis(command))
    page.paragraph(f"`{gateway.name}` " + " | ".join(f"`{option.names[-1]}`" for option in gateway.options))
    page.heading("Description")
    page.paragraph(documents.paragraph("README.md", "`gateway` is an HTTP reverse proxy"))
    page.heading("Commands")
    for command in gateway.commands:
        page.subheading(f"{gateway.name} {command.name}")
        page.paragraph(roff.sentence(command.description))
        for argument in command.positionals + [o for o in command.options if "--help" not in o.names]:
            _argument(page, argument)
    page.heading("Options")
    for option in gateway.options:
        _argument(page, option)
    page.heading("Signals")
    page.paragraph("`gateway run` acts on these signals:")
    for does, signals in documents.rows("docs/operations.md", "SIG"):
        page.item(f"`{signals.replace(' or ', '`, `').replace(', SIG', '`, `SIG')}`".split(" ([")[0].rstrip("`") + "`",
                  roff.sentence(does))
    page.heading("Exit status")
    for status, meaning in gateway.statuses.items():
        page.item(f"`{status}`", roff.sentence(meaning))
    page.heading("Files")
    page.item("`/etc/gateway/gateway.yaml`", "The configuration of the service, if the gateway is installed as a package.")
    page.item("`/etc/gateway/environment`", "Variables of the service, which the configuration may name: `NAME=value` lines.")
    page.item("`/var/lib/gateway`", "The place for a snapshot of the local store.")
    page.item("`/usr/share/gateway/gateway.schema.json`", "The JSON Schema of the configuration, for editors.")
    page.item("`/usr/share/doc/gateway`", "The documentation, and an example with every key.")
    page.heading("Environment")
    page.item("`NO_COLOR`", "If it is set and not empty, output on a terminal has no colours.")
    page.item("`NAME`", "Any variable that the configuration names, as in `{ env: NAME }`.")
    page.heading("Examples")
    for says, command in _examples():
        page.paragraph(says)
        page.example(command)
    page.heading("See also")
    page.paragraph("`gateway.yaml`(5)")
    return page.text()


def _value(argument):
    if not argument.value:
        return ""
    return "{" + ",".join(argument.choices) + "}" if argument.choices else argument.value


def _synopsis(command):
    words = [f"`gateway {command.name}`"]
    for option in command.options:
        if "--help" in option.names or (option.is_file and any(p.is_file and not p.repeated for p in command.positionals)):
            continue
        written = f"`{option.names[-1]}` {_value(option)}".strip()
        written = written if option.required else f"[{written}]"
        words.append(written + ("..." if option.repeated else ""))
    words += [p.names[0] + ("..." if p.repeated else "") for p in command.positionals]
    return " ".join(words)


def _argument(page, argument):
    value = _value(argument) if argument.names[0].startswith("-") else ""
    says = roff.sentence(argument.description)
    if argument.default:
        says += f" The default is {argument.default}."
    page.item(", ".join(f"`{name}`" for name in argument.names) + (f" {value}" if value else ""), says)


def _examples():
    """From the documents, whose examples are tested."""
    start = documents.document("README.md")
    check, run = (next(line.split("#")[0].strip() for line in start.split("\n") if line.startswith(f"    gateway {word} "))
                  for word in ("check", "run"))
    yield "Check a configuration, then serve by it:", f"{check}\n{run}"
    explain = documents.block("docs/recipes.md", "sh", "gateway explain")
    yield "Ask why a client is limited, with the counts of the running gateway:", explain[explain.index("gateway explain"):]
    yield "Choose a rate from a day's access log:", documents.block("docs/replay.md", "sh", "--suggest")
