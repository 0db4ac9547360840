"""A club of three members with photos and notes, and what every part of the gallery's checks does with its pages."""

import io
import subprocess
import time

from PIL import Image
from server import Server, password
from static import project
from steps import eventually, told
from visitor import Visitor

fixtures = project / "Fixtures/panoramas"

# Where the pages of photos and notes are.
items = "/gallery/byteclub/"

# How many pictures have come, whatever their size.
pictures = "return [...document.images].filter(image => image.complete && image.naturalWidth > 0).length"

months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

plan = """# The plan

**Meet** at seven, by the *car park*.

| what | who |
| --- | --- |
| tripod | Bo |
| soup | Ada |

- [ ] book the hut
- [x] check the ropes

![The ridge](../photos/forest.jpg)

See [the gear](../gear.md).
"""


class Club:
    """A server with Ada, who owns the club, Bo, who edits, and Vi, who may only look."""

    # What browsers are made of.
    browser = Visitor
    names = ("city", "forest", "partial", "phone-strip", "portrait", "dated", "courtyard", "sunrise")

    def __init__(self, programs):
        self.server = Server(programs)
        self.ada = self.server.member("ada", "owner")
        self.bo = self.server.member("bo")
        self.vi = self.server.member("vi", "viewer")
        try:
            self.found()
        except BaseException:
            self.close()
            raise

    def found(self):
        """Puts photos and notes into the club."""
        for number, name in enumerate(self.names):
            self.put(self.ada, f"photos/{name}.jpg", (fixtures / f"{name}.jpg").read_bytes(), 2024, 6 + number % 3, 20)
        for name in ("night", "interior"):
            self.put(self.bo, f"photos/Dolomites/{name}.jpg", (fixtures / f"{name}.jpg").read_bytes(), 2023, 9, 3)
        self.ada.put("photos/forest.jpg.md", b"Left at the crossing, into the *old* forest\n")
        self.ada.put("Trip/plan.md", plan.encode())
        self.bo.put("gear.md", b"# Gear\n\nA rope, a tripod and soup.\n")

    def check(self):
        """Does everything that this part checks."""
        for name in self.steps:
            print(f"-- {name}", flush=True)
            getattr(self, name)()

    def close(self):
        self.server.close()

    # What is used again and again

    @staticmethod
    def put(member, path, content, year, month, day, minute=0):
        """Puts a file that was changed at a moment."""
        member.put(path, content, f"Mon, {day:02} {months[month - 1]} {year} 10:{minute:02}:00 +0000")

    def put_many(self, count, first="small"):
        """Puts small photos of three years, one or several a day, oldest first."""
        for number in range(count):
            shade = number * 37 % 200 + 30
            picture = Image.new("RGB", (320, 240) if number % 3 else (240, 320), (shade, 120, 230 - shade))
            data = io.BytesIO()
            exif = Image.Exif()
            day = number * 1000 // count
            year, month, date = 2020 + day // 336, day // 28 % 12 + 1, day % 28 + 1
            exif[0x8769] = {0x9003: f"{year}:{month:02}:{date:02} 09:{number % 60:02}:00"}
            picture.save(data, "JPEG", quality=60, exif=exif)
            self.ada.put(f"photos/{first}{number:03}.jpg", data.getvalue())

    def link(self, path, *options):
        printed = self.ada.run("share", path, *options)
        return next(line for line in printed.splitlines() if line.startswith("http"))

    def visitor(self, member=None, **options):
        """A browser with a profile of its own, in which a member has signed in."""
        visitor = self.browser(member.name if member else "guest", **options)
        if member:
            visitor.open(self.server.url + "/login")
            visitor.fill("Name", member.name)
            visitor.fill("Password", password)
            visitor.click("Sign in")
            eventually(
                f"{member.name} is signed in",
                lambda: "/login" not in visitor.run("return location.pathname"),
                visitor.text,
            )
        visitor.requests()
        visitor.complaints()
        return visitor

    def page(self, visitor, path):
        visitor.open(self.server.url + path)

    def timeline(self, visitor, path="/gallery"):
        """Opens the gallery, and waits until its script shows it."""
        self.page(visitor, path)
        # The same address again is a reload, after which the page is where it was.
        visitor.see(
            "the timeline is there",
            "scrollTo({ top: 0, behavior: 'instant' }); return document.querySelectorAll('#days a.tile[href]').length",
        )

    def drawn(self, visitor, what):
        """Waits for a panorama's first frame."""
        if visitor.is_firefox:
            visitor.see(f"{what} is drawn", "return !!document.querySelector('.viewer.live canvas')")
        else:
            eventually(f"{what} is drawn", visitor.view, visitor.text, 20)

    def honest(self, visitor, what, shifts=True, refusals=()):
        """Nothing has shifted, nothing came from elsewhere, the policy is strict and has refused nothing."""
        if shifts:
            told(visitor.shift() == 0, f"{what}: the layout has not shifted", visitor.shift())
        told(not visitor.refused(), f"{what}: the policy has refused nothing", visitor.refused())
        complaints = [each for each in visitor.complaints() if not any(each.count(word) for word in refusals)]
        told(not complaints, f"{what}: the console is empty", "\n".join(complaints))
        asked = [url for url in visitor.requests() if not url.startswith(("data:", "blob:", "chrome:", "about:"))]
        elsewhere = [url for url in asked if not url.startswith(self.server.url + "/")]
        told(not elsewhere, f"{what}: all {len(asked)} requests went to the club", elsewhere)
        told(
            "default-src 'none'" in visitor.policy and "unsafe" not in visitor.policy,
            f"{what}: its policy is strict",
            visitor.policy,
        )
        return asked

    def fits(self, visitor, what):
        wide = visitor.run("return document.documentElement.scrollWidth - innerWidth")
        told(wide <= 0, f"{what} does not scroll sideways", wide)

    def listed(self, folder="", *options):
        """The names of the photos of a folder, as a member's program lists them."""
        return self.ada.run("photos", "list", *([folder] if folder else []), *options)

    def shown(self, note):
        return self.ada.run("notes", "show", note)


def settle(visitor):
    """Waits until nothing on the page moves or loads."""
    visitor.run("""
        const end = performance.now() + 5000;
        for (let still = 0, last = ""; still < 4 && performance.now() < end;) {
          await new Promise(done => setTimeout(done, 80));
          const now = [scrollY, document.querySelectorAll("*").length, document.documentElement.scrollHeight,
            [...document.images].filter(image => image.complete).length].join();
          still = now === last ? still + 1 : 0;
          last = now;
        }""")


def fetched(what):
    """The folder of what the project fetches and has no room for."""
    done = subprocess.run([project / "Config/fetch-fixtures", what], capture_output=True, text=True)
    told(done.returncode == 0, f"there is '{what}' for the checks", done.stderr)
    return done.stdout.strip()


def pause(seconds):
    time.sleep(seconds)
