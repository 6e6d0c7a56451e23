"""Reads what valgrind's callgrind writes: instructions of each function, its callees not counted."""
import re

NAMED = re.compile(r"\((\d+)\)(?: (.*))?")
COST = re.compile(r"[+\-*\d]\S* (\d+)$")
PARAMETERS = re.compile(r"(?<!operator)\(")
ALLOCATION = re.compile(r"(\w*_)?(malloc|free|calloc|realloc)\b|operator (new|delete)")
OWN = re.compile(r"gateway::(\w+)|(boost)::|(std)::")


class Names:
    """The format writes a name once, `(7) name`, and then only its number, `(7)`."""

    def __init__(self):
        self.names = {}

    def read(self, words):
        number, name = NAMED.match(words).groups()
        if name:
            self.names[number] = shortened(name)
        return self.names[number]


def shortened(function):
    """Without parameters: overloads count as one."""
    return PARAMETERS.split(function.replace("(anonymous namespace)::", ""), maxsplit=1)[0]


def instructions(text):
    """{function: instructions}"""
    functions = Names()
    sums = {}
    current = None
    of_callee = False  # the line after `calls=` repeats the cost of the callee
    for line in text.splitlines():
        if line.startswith("fn="):
            current = functions.read(line[3:])
        elif line.startswith("cfn="):
            functions.read(line[4:])
        elif line.startswith("calls="):
            of_callee = True
        elif match := COST.match(line):
            if not of_callee:
                sums[current] = sums.get(current, 0) + int(match[1])
            of_callee = False
    return sums


def part(function):
    """The part of the program that a function belongs to: a folder of ours, or a library."""
    if ALLOCATION.match(function):
        return "allocation"
    if match := OWN.search(function):
        return next(name for name in match.groups() if name)
    return "libc"
