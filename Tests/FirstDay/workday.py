"""A member's working day: what is not to be seen in README's lines alone.

Who joins by a link and types nothing else, a token at a terminal, albums up and down, progress that can be believed,
Ctrl-C at nine tenths of a photo, a forgotten password, and who leaves.
"""

import re
import time

from counting import Counter, photo
from steps import eventually, match, told

mebibyte = 1 << 20


class Workday:
    """The scenes, played in the order in which they are written."""

    def __init__(self, club):
        self.club = club

    def play(self):
        """Plays all scenes, and returns how many they are."""
        scenes = [
            self.token, self.invitation, self.albums, self.progress, self.interruptions, self.forgotten_password,
            self.leaving,
        ]
        for scene in scenes:
            print(f"scene           {scene.__doc__}", flush=True)
            scene()
        return len(scenes)

    def host(self, line, *more):
        """What a command of the host prints."""
        return self.club.host.run(" ".join(["byteclub", line, "--data", str(self.club.data), *more]))

    def login(self, person, port=None):
        """Somebody logs in by a token that the host has made, and types it at a terminal."""
        text = self.host(f"members add {person.name}")
        token = match(r"^\S{40,}$", text)[0]
        command = match(r"'(byteclub login \S+ --token-stdin)'", text)[1]
        if port:
            command = re.sub(r":\d+(?=[# ])", f":{port}", command)
        terminal = person.start(command + self.club.trust)
        terminal.wait_for("(?i)token")
        time.sleep(0.2)
        terminal.type(token + "\n")
        told(f"as {person.name}" in terminal.end(seconds=20), "Enter is enough, and it says who is logged in")
        told(token not in terminal.text, "the token is not to be seen", terminal.text)

    def token(self):
        """A token, typed at a terminal"""
        self.tia = self.club.newcomer("tia")
        self.login(self.tia)
        told("tia" in self.tia.run("byteclub whoami"), "she is herself")
        self.tia.run("echo 'Who brings the rope?' | byteclub notes add rope.md")

    def invitation(self):
        """From a link in the terminal to a folder in sync: nothing is copied, and the browser is told the rest"""
        self.gus = self.club.newcomer("gus")
        link = match(r"^https?://\S+/invite/\S+$", self.host("members invite"))[0]
        terminal = self.gus.start(f"byteclub login {link}{self.club.trust}")
        pages = self.gus.home / "pages"
        eventually("login opens a page", pages.exists, lambda: terminal.text)
        self.browser = self.club.browser("gus")
        self.browser.join_and_allow(pages.read_text().strip())
        told("as gus" in terminal.end(seconds=20), "the terminal goes on by itself", terminal.text)
        self.gus.run("byteclub sync ~/club --once")
        told("rope" in (self.gus.home / "club/rope.md").read_text(), "the club's notes are in his folder")

    def albums(self):
        """A folder of albums goes up and comes down as it was"""
        names = ["one.jpg", "2024 Dolomites/IMG_1.jpg", "2026 Camargue/IMG_1.jpg", "2026 Camargue/Evening/IMG_2.jpg"]
        for seed, name in enumerate(names):
            self.tia.give("Pictures/" + name, photo(200_000, seed))
        self.tia.run("byteclub photos upload ~/Pictures --progress never")
        albums = self.tia.run("byteclub photos albums")
        told("2024 Dolomites" in albums and "2026 Camargue" in albums, "each folder is an album", albums)
        self.gus.run("mkdir Got && byteclub photos download . -o ~/Got/ --progress never")
        for name in names:
            sent, got = self.tia.home / "Pictures" / name, self.gus.home / "Got" / name
            told(got.exists() and got.read_bytes() == sent.read_bytes(), f"'{name}' is where it was")

    def progress(self):
        """Progress, looked at five times a second"""
        for number in range(12):
            self.tia.give(f"Progress/p{number:02}.jpg", photo(2 * mebibyte, f"progress {number}"))
        terminal = self.tia.start("byteclub photos upload ~/Progress --limit-rate 2M")
        samples, began = [], time.monotonic()
        while terminal.process.poll() is None:
            last = terminal.text.split("\n")[-1]
            if share := re.search(r"\s(\d+)%", last):
                left = re.search(r"(\d+)s left", last)
                samples.append((time.monotonic() - began, int(share[1]), left and int(left[1])))
            time.sleep(0.2)
        took = time.monotonic() - began
        terminal.end()
        shown = [share for _, share, _ in samples]
        told(len(samples) >= 2 * took, f"it is there most of the time: {len(samples)} looks in {took:.1f} s", samples)
        told(shown == sorted(shown), "it never goes back", samples)
        late = [share for at, share, _ in samples if at > took / 10]
        told(all(late), "it is never 0 % after a tenth of the time", samples)
        at, share, left = min(samples, key=lambda sample: abs(sample[0] - took / 2))
        told(abs(share - 100 * at / took) <= 10, f"at half time it says {share} %", samples)
        told(left is not None and abs(at + left - took) <= took / 10 + 1, f"and {left} s left of {took:.1f} s", samples)

    def interruptions(self):
        """Ctrl-C at nine tenths of each of ten photos of 7 MiB, and the same command again"""
        counter = Counter(self.club.port)
        kim = self.club.newcomer("kim")
        self.login(kim, counter.port)
        for number in range(10):
            name, size, before = f"big-{number}.jpg", 7 * mebibyte, counter.up
            content = photo(size, f"big {number}")
            kim.give(name, content)
            command = f"byteclub photos upload {name} --limit-rate 600K"
            terminal = kim.start(command)
            while counter.up - before < 0.9 * size and terminal.process.poll() is None:
                time.sleep(0.005)
            terminal.type("\x03")
            terminal.end(130)
            told(name not in kim.run("byteclub photos list"), "nothing is half visible")
            kim.run(command)
            repeated = counter.up - before - size
            told(repeated <= 1.125 * mebibyte, f"{repeated / mebibyte:.2f} MiB went twice, with all else that is said")
            kim.run(f"byteclub photos download {name} -o again.jpg --force --progress never")
            told((kim.home / "again.jpg").read_bytes() == content, "the photo is whole")

    def forgotten_password(self):
        """A password is forgotten, and the host makes a link for another"""
        link = match(r"^https?://\S+$", self.host("members reset gus"))[0]
        other = self.club.browser("gus")
        other.reset(link.partition("#")[0], "nine by the lake")
        third = self.club.browser("gus")
        third.sign_in(self.club.site, "seven by the car park")
        third.sees("Sign in", "is not let in by the old one")
        third.sign_in(self.club.site, "nine by the lake")
        third.sees("Add a machine", "is let in by the new one")
        self.browser = third
        told("gus" in self.gus.run("byteclub whoami"), "the machine stays signed in")

    def leaving(self):
        """A member leaves, while his folder is kept in sync"""
        terminal = self.gus.start("byteclub sync ~/club")
        terminal.wait_for("watching")
        self.browser.leave(self.club.site)
        terminal.end(77, seconds=20)
        self.gus.run("byteclub notes list", 77)
        told((self.gus.home / "club/rope.md").exists(), "his files stay")
        told("rope.md" in self.tia.run("byteclub notes list"), "and so does what the club has")
        told("gus" not in self.host("members list"), "he is no member any more")
