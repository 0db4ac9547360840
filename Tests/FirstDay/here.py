"""This machine in place of fresh ones: programs from a folder, and people with homes of their own."""

import os

from machines import Typist
from pages import Pages


class Here:
    """This machine, with what is to be tried first on everybody's path."""

    def __init__(self, folder, programs):
        self.name, self.folder, self.programs = "here", folder, programs

    def script(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def person(self, name, **environment):
        return Resident(self, name, environment)


class Resident(Typist):
    """Somebody at a terminal of this machine."""

    def __init__(self, machine, name, environment):
        self.machine, self.name, self.home = machine, name, machine.folder / name
        self.home.mkdir()
        path = [machine.folder / "bin", machine.programs, *os.environ["PATH"].split(":")]
        settings = dict(
            environment, HOME=self.home, USER=name, LANG="C.UTF-8", TERM="xterm", SHELL="/bin/bash",
            PATH=":".join(map(str, path)))
        self.arguments = ["env", "-i", "-C", self.home, *(f"{key}={value}" for key, value in settings.items())]


class Club:
    """A club on this machine: who hosts it, where it is, and how others come to it."""

    def __init__(self, folder, programs):
        self.machine = Here(folder, programs)
        self.machine.script("xdg-open", 'echo "$1" >>~/pages\n')
        self.host, self.data, self.trust = self.machine.person("hana"), folder / "data", ""
        self.serving = self.host.start(f"byteclub serve --data {self.data} --listen 127.0.0.1:0")
        self.site = self.serving.wait_for(r"listening on (\S+)")[1]
        self.port = int(self.site.rpartition(":")[2])
        browser = self.browser("hana")
        browser.register(self.serving.wait_for(r"http://\S+/invite/\S+")[0])
        browser.sees("Add this machine", "owns the club")

    def newcomer(self, name):
        """Somebody whose machine hands pages to a browser."""
        return self.machine.person(name, DISPLAY=":0")

    def browser(self, name):
        """A browser that has not been here before."""
        return Pages(name)

    def close(self):
        """Ends the server."""
        self.serving.type("\x03")
        self.serving.end(0)
