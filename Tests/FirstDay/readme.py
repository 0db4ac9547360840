"""The commands that README and the pages that continue it print, in order."""

import pathlib
import re

project = pathlib.Path(__file__).resolve().parents[2]
pages = ["README.md", "Sources/ByteClubServer/Documentation.docc/Hosting.md", "Sources/ByteClubCLI/Documentation.docc/Guide.md"]
readme = "\n".join((project / page).read_text() for page in pages)


class Line:
    """A command of README, with what stands behind and below it."""

    def __init__(self, text):
        self.output = []
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
    lines, fence, unfinished = [], None, ""
    for line in readme.splitlines():
        if line.startswith("```"):
            fence = None if fence else line
        elif fence == "```console" and not unfinished and not re.match(r"[a-z]*\$ ", line):
            lines[-1].output.append(line)
        elif fence in ("```console", "```sh") or line.startswith("    "):
            unfinished += line.strip()
            if unfinished.endswith("\\"):
                unfinished = unfinished[:-1]
                continue
            lines.append(Line(unfinished))
            unfinished = ""
    return lines
