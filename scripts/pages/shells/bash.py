"""Completion for bash, which needs nothing but bash."""

SCRIPT = """\
# Completion of {name} for bash.
_{name}()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}}
    local options files choices
    # bash splits --option=value into three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '{first}' -- "$word")
        return
    fi
    case $command in
{commands}
    *) return ;;
    esac
    case $command.$before in
{values}
    *)
        if [[ $word == -* ]]; then
            choices=$options
        elif [[ -n $files ]]; then
            choices=FILE
        fi
        ;;
    esac
    if [[ $choices == FILE ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [[ -n $choices ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    fi
}}
complete -F _{name} {name}
"""


def write(gateway):
    commands, values = [], []
    for command in gateway.commands:
        names = " ".join(name for option in command.options for name in option.names)
        files = " files=yes" if any(p.is_file for p in command.positionals) else ""
        commands.append(f"    {command.name}) options='{names}'{files} ;;")
        for option in command.options:
            if option.value:
                choices = "FILE" if option.is_file else " ".join(option.choices)
                names = " | ".join(f"{command.name}.{name}" for name in option.names)
                values.append(f"    {names}) choices='{choices}' ;;")
    first = [c.name for c in gateway.commands] + [name for option in gateway.options for name in option.names]
    return SCRIPT.format(
        name=gateway.name, first=" ".join(first), commands="\n".join(commands), values="\n".join(values))
