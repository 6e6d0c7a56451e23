"""Completion for fish."""


def write(gateway):
    name = gateway.name
    lines = [f"# Completion of {name} for fish.", f"complete -c {name} -f"]
    for option in gateway.options:
        lines.append(_option(name, "__fish_use_subcommand", option))
    for command in gateway.commands:
        lines.append(f"complete -c {name} -n __fish_use_subcommand -a {command.name} -d {_quoted(command.description)}")
    for command in gateway.commands:
        given = f"'__fish_seen_subcommand_from {command.name}'"
        if any(positional.is_file for positional in command.positionals):
            lines.append(f"complete -c {name} -n {given} -F")
        lines += [_option(name, given, option) for option in command.options]
    return "\n".join(lines) + "\n"


def _option(name, condition, option):
    words = [f"complete -c {name} -n {condition}"]
    words += [f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.names]
    if option.is_file:
        words.append("-r -F")
    elif option.value:
        words.append("-x" + (f" -a '{' '.join(option.choices)}'" if option.choices else ""))
    return " ".join([*words, "-d", _quoted(option.description)])


def _quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
