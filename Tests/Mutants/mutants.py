"""Mutants of the engine: the lists beside this file, and sources that have all of them in them, one of which is on."""

import dataclasses
import pathlib
import re

SWITCH = """import Glibc

/// Which mutant is on; 0 when none is.
enum Mutant {
    static let active = unsafe getenv("BYTECLUB_MUTANT").flatMap { Int(unsafe String(cString: $0)) } ?? 0
}
"""


@dataclasses.dataclass
class Mutant:
    number: int
    name: str
    file: str
    before: str
    after: str
    killers: list[str]


def read(root: pathlib.Path) -> list[Mutant]:
    """All mutants, numbered in the order of the lists: `name:`, `file:`, `from:`, `to:` and `killed by:` of each."""
    form = re.compile(
        r"^name: (.+)\nfile: (.+)\nfrom:\n(.*?)\nto:\n(.*?)\n?killed by: (.+)$", re.MULTILINE | re.DOTALL)
    mutants = []
    for path in ["planner.txt", "apply.txt", "loop.txt"]:
        for block in re.split(r"\n\n(?=name: )", (root / "Tests/Mutants" / path).read_text().rstrip("\n")):
            found = form.fullmatch(block)
            if not found:
                raise SystemExit(f"{path}: not a mutant:\n{block}")
            name, file, before, after, killers = found.groups()
            mutants.append(Mutant(len(mutants) + 1, name, file, before, after, killers.split(", ")))
    return mutants


def with_mutants(source: str, mutants: list[Mutant]) -> str:
    """A source in which each function that mutants change has their bodies before its own."""
    bodies: dict[int, list[tuple[int, str]]] = {}
    for mutant in mutants:
        if source.count(mutant.before) != 1:
            raise SystemExit(
                f"{mutant.file}: {source.count(mutant.before)} times, not once:\n{mutant.before}\n({mutant.name})")
        # What is the same at the start does not count: it may be of the line before.
        at = source.index(mutant.before) + next(
            (i for i, (one, other) in enumerate(zip(mutant.before, mutant.after)) if one != other),
            min(len(mutant.before), len(mutant.after)))
        start = member_start(source, at)
        changed = source.replace(mutant.before, mutant.after)
        bodies.setdefault(start, []).append((mutant.number, body(changed, start)[2]))
    for start in sorted(bodies, reverse=True):
        first, last, own = body(source, start)
        is_void = not has_value(source[start:first])
        parts = [
            f"if Mutant.active == {number} {{\n{mutated}\n{'return' if is_void else ''}\n}}\n"
            for number, mutated in bodies[start]
        ]
        source = source[:first] + "\n" + "".join(parts) + own + "\n" + source[last:]
    return source


def member_start(source: str, at: int) -> int:
    """Where the function or property starts that has a position in it."""
    start = source.rfind("\n", 0, at + 1) + 1
    while start > 0:
        line = source[start:source.index("\n", start)]
        if re.match(r"^ {4}(?=[a-z@])(?:[a-z@]+(?:\(\w+\))? )*(?:func|var|init|subscript)\b", line):
            return start
        start = source.rfind("\n", 0, start - 1) + 1
    raise SystemExit(f"no function around {source[at - 40:at + 40]!r}")


def body(source: str, start: int) -> tuple[int, int, str]:
    """Where a member's body starts and ends, and the body, with the word that an only expression leaves out."""
    line_end = source.index("\n", start)
    if source[start:line_end].endswith("}"):
        first = source.index("{ ", start) + 1
        last = line_end - 1
    else:
        first = re.compile(r"\{$", re.MULTILINE).search(source, start).end()
        while not re.match(r" {4}\S", source[source.rfind("\n", 0, first) + 1:first]):
            first = re.compile(r"\{$", re.MULTILINE).search(source, first).end()
        last = source.index("\n    }\n", first) + 1
    text = source[first:last].strip("\n")
    if has_value(source[start:first]) and is_expression(text):
        text = "return " + text.strip()
    return first, last, text


def has_value(header: str) -> bool:
    """Whether what has this header gives a value."""
    if re.search(r"\bvar\b", header):
        return True
    depth = 0
    for at, character in enumerate(header):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == ")" and depth == 0:
            # A function that is a parameter gives a value to somebody else.
            return "-> " in header[at:]
    return False


def is_expression(text: str) -> bool:
    """Whether a body is one expression."""
    lines = [line for line in text.split("\n") if line.strip() and not line.strip().startswith("//")]
    indentation = min(len(line) - len(line.lstrip()) for line in lines)
    starts = [line.strip() for line in lines if len(line) - len(line.lstrip()) == indentation]
    heads = [line for line in starts if not re.match(r"[})\].?:&|]|case\b|default\b|else\b", line)]
    if len(heads) != 1 or re.match(r"(return|guard|for|while|throw|let|var|do|defer|repeat)\b", heads[0]):
        return False
    is_branch = re.match(r"(switch|if)\b", heads[0]) is not None
    return not is_branch or not re.search(r"\breturn\b", text)
