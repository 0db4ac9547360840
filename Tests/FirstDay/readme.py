"""The commands that README prints, in order."""

import pathlib
import re

readme = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()


class Line:
    """A command of README, with what stands behind and below it."""

    def __init__(self, section, text):
        self.section, self.output = section, []
        prompt = re.match(r"([a-z]*)\$ ", text)
        self.who = prompt[1] if prompt else ""
        self.command, _, self.comment = text[prompt.end() if prompt else 0:].partition(" #")
        self.command = self.command.rstrip()

    def shows(self, text):
        """Whether a text has all lines that README prints below the command, but for times, versions and order."""
        def plain(line):
            line = re.sub(r"\d{4}-\d\d-\d\d \d\d:?\d\d", "TIME", line)
            return " ".join(re.sub(r"\b\d{7,}\b|\b[0-9a-f]{8,9}\b", "N", line).split())

        return {plain(line) for line in self.output} <= {plain(line) for line in text.splitlines()}


def readme_lines():
    """The lines in README's blocks of commands, in order."""
    lines, section, fence, unfinished = [], "", None, ""
    for line in readme.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("```"):
            fence = None if fence else line
        elif fence == "```console" and not unfinished and not re.match(r"[a-z]*\$ ", line):
            lines[-1].output.append(line)
        elif fence in ("```console", "```sh") or line.startswith("    "):
            unfinished += line.strip()
            if unfinished.endswith("\\"):
                unfinished = unfinished[:-1]
                continue
            lines.append(Line(section, unfinished))
            unfinished = ""
    return lines
