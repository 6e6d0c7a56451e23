"""Completion for zsh."""

SCRIPT = """\
#compdef {name}
# Completion of {name} for zsh.
_{name}() {{
    local state
    local -a commands=(
{commands}
    )
    _arguments -C {options} '1: :->command' '*:: :->argument' && return
    case $state in
    command) _describe -t commands command commands ;;
    argument)
        case $words[1] in
{arguments}
        esac
        ;;
    esac
}}
_{name} "$@"
"""


def write(gateway):
    return SCRIPT.format(
        name=gateway.name,
        commands="\n".join(f"        {_quoted(_escaped(c.name) + ':' + c.description)}" for c in gateway.commands),
        options=" ".join(spec for option in gateway.options for spec in _option(option, exclusive=True)),
        arguments="\n".join(_command(command) for command in gateway.commands))


def _command(command):
    specs = [spec for option in command.options for spec in _option(option, exclusive="--help" in option.names)]
    for number, positional in enumerate(command.positionals, 1):
        place = "*" if positional.repeated else str(number)
        specs.append(_quoted(f"{place}:{positional.names[0]}:{'_files' if positional.is_file else ' '}"))
    return f"        {command.name})\n            _arguments {' '.join(specs)} ;;".replace("' '", "' \\\n                '")


def _option(option, exclusive):
    """A specification for each of its names."""
    begins = "(- *)" if exclusive else "*" if option.repeated else ""
    value = ""
    if option.value:
        action = "_files" if option.is_file else f"({' '.join(option.choices)})" if option.choices else " "
        value = f":{_escaped(option.value)}:{action}"
    for name in option.names:
        joined = "=" if value and name.startswith("--") else ""
        yield _quoted(f"{begins}{name}{joined}[{_escaped(option.description)}]{value}")


def _escaped(text):
    for special in "\\[]:":
        text = text.replace(special, "\\" + special)
    return text


def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"
