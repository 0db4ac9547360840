"""What a club's pages look like, for people who have no club yet: pictures in Fixtures/screens.

Each is one of a page in light, beside the same in dark; README.md of that folder says what they show.
"""

import io

import numpy
from club import Club, fixtures, items, settle
from PIL import Image
from reprojection import Panorama
from static import project
from steps import told
from visitor import decoded

folder = project / "Fixtures/screens"

captions = {
    "courtyard": "Where we met, before anybody was late",
    "forest": "Left at the crossing, and into the old part of the forest",
    "sunrise": "Six in the morning; the coffee was warm",
    "sunset": "The way back",
}

story = """# Two days on the Hohes Venn

We met in the courtyard at four, before anybody was late.

![The courtyard](../photos/courtyard.jpg)

Left at the crossing, and into the old part of the forest. **Nobody spoke** until the light came.

![The old forest](../photos/forest.jpg)
![The sun](../photos/Hohes%20Venn/sunrise.jpg)

- [x] tripod
- [ ] a second flask

| who | brings |
| --- | --- |
| Zoë | the long lens |
| Ann | soup |
"""


class Screens(Club):
    """A club whose photos are this repository's own, so that its pages may be shown to everybody."""

    def found(self):
        """Spheres, ordinary photos cut out of them, and notes, over three years."""
        self.total = 0

    def fill(self):
        for number, name in enumerate(
            ["forest", "sunrise", "courtyard", "sunset", "city", "interior", "night", "studio"]
        ):
            member = (self.ada, self.bo)[number % 2]
            place = "Hohes Venn/" if number in (1, 3) else ""
            moment = (2026 - number // 3, (10, 6, 5)[number % 3], 21 - number)
            self.put(member, f"photos/{place}{name}.jpg", (fixtures / f"{name}.jpg").read_bytes(), *moment, 10)
            sphere = Panorama(Image.open(fixtures / f"{name}.jpg").convert("RGB"), "sphere")
            for turn in range(3 if number < 4 else 2):
                size = ((600, 400), (400, 520), (480, 480))[(number + turn) % 3]
                pixels, _ = sphere.view(turn * 120 - 60, 3, 95, *size)
                data = io.BytesIO()
                Image.fromarray(numpy.uint8(pixels)).save(data, "JPEG", quality=88)
                self.put(member, f"photos/{place}{name} {turn + 1}.jpg", data.getvalue(), *moment, 20 + turn)
        strip = (fixtures / "phone-strip.jpg").read_bytes()
        self.put(self.ada, "photos/From the bridge.jpg", strip, 2026, 6, 20, 30)
        for name, text in captions.items():
            place = "Hohes Venn/" if name.startswith("sun") else ""
            self.ada.put(f"photos/{place}{name}.jpg.md", text.encode())
        self.ada.put(
            "photos/forest.jpg.md", (captions["forest"] + "\n\nat 60,-4: [to the yard](courtyard.jpg)\n").encode()
        )
        for note in sorted((project / "Fixtures/notes").glob("*.md")):
            self.put(self.bo, note.name, note.read_bytes(), 2025, 8, 3)
        self.put(self.ada, "Trips/Two days on the Hohes Venn.md", story.encode(), 2026, 6, 21, 50)

    def check(self):
        self.take()

    def plain(self, member=None, **options):
        """A browser without WebGL, which is faster."""
        return self.visitor(member, switches=("disable-gpu",), **options)

    def timeline(self, visitor, path="/gallery"):
        """Opens the gallery without the card for new members."""
        super().timeline(visitor, path)
        if visitor.has(".welcome button"):
            visitor.press_button(".welcome button")
            visitor.see("the welcome is dismissed", "return !document.querySelector('.welcome')")
            super().timeline(visitor, path)

    # Taking pictures

    def shot(self, visitor, name, width, height=None, scale=1, again=None):
        """A page as it is, in light and in dark, side by side."""
        halves = []
        for dark in (False, True):
            visitor.dark(dark)
            if again:
                again()
            settle(visitor)
            visitor.run("document.activeElement.blur(); await new Promise(done => setTimeout(done, 500))")
            halves.append(decoded(visitor.call("GET", "/screenshot")))
        visitor.dark(False)
        both = Image.new("RGB", (sum(half.width for half in halves) + 8, halves[0].height), "#888")
        both.paste(halves[0], (0, 0))
        both.paste(halves[1], (halves[0].width + 8, 0))
        both = both.resize((round(both.width * scale), round(both.height * scale)), Image.Resampling.LANCZOS)
        data = io.BytesIO()
        both.save(data, "WEBP", quality=60, method=6)
        self.total += len(data.getvalue())
        file = folder / f"{name}-{width}.webp"
        file.write_bytes(data.getvalue())
        told(len(data.getvalue()) < 260 << 10, f"{file.name} has {len(data.getvalue()) >> 10} KiB")

    def wide(self, visitor, name, width=1280, again=None):
        """A window of that width; what is wider than a screen of today is made smaller."""
        visitor.resize(width, 800 if width < 2000 else 1300)
        self.shot(visitor, name, width, scale={1280: 0.75, 2560: 0.4}.get(width, 1), again=again)

    def empty(self):
        """A club on its first day."""
        visitor = self.plain(self.ada)
        self.page(visitor, "/members")
        visitor.enter("[name=club]", "Venn Walkers")
        visitor.press_button("button[value=name]")
        self.page(visitor, "/gallery")
        for width in (1280, 390):
            self.wide(visitor, "10-empty", width, lambda: self.page(visitor, "/gallery"))
        guest = self.plain()
        guest.open(self.server.url + "/login")
        self.wide(guest, "12-sign-in")
        guest.close()
        visitor.close()

    def take(self):
        folder.mkdir(exist_ok=True)
        self.empty()
        self.fill()
        self.gallery()
        self.photo()
        self.notes()
        self.people()
        self.guests()
        self.phone()
        self.readme()
        told(self.total <= 4 << 20, f"all pictures have {self.total >> 10} KiB, of 4096 at most")

    def gallery(self):
        visitor = self.plain(self.ada)
        self.timeline(visitor)
        visitor.see(
            "the server has looked at the photos",
            """
            return [...document.querySelectorAll(".badge")].length >= 3""",
            seconds=60,
        )
        for width in (1280, 2560):
            self.wide(visitor, "01-rows", width)
        visitor.resize(1280, 800)
        visitor.run("document.body.classList.add('dropping')")
        self.wide(visitor, "02-drop")
        visitor.run("document.body.classList.remove('dropping')")
        self.adding()
        self.page(visitor, "/gallery?q=forest")
        self.wide(visitor, "04-search")
        self.page(visitor, "/gallery")
        settle(visitor)
        visitor.press_button(".filter > summary")
        self.wide(visitor, "04-filter")
        self.timeline(visitor)
        visitor.run(
            "scrollTo({ top: 900, behavior: 'instant' }); document.getElementById('scrubber').classList.add('held')"
        )
        self.wide(visitor, "07-slider")
        self.timeline(visitor)
        visitor.command("Network.enable")
        visitor.command("Network.setCacheDisabled", cacheDisabled=True)
        visitor.command("Network.setBlockedURLs", urls=["*/photos/*.jpg"])
        self.page(visitor, "/gallery")
        self.wide(visitor, "11-loading")
        visitor.command("Network.setBlockedURLs", urls=[])
        self.timeline(visitor)
        settle(visitor)
        for number in (1, 2, 4):
            visitor.run(
                "document.querySelectorAll('#days a.tile:not(.line)')[args[0]].querySelector('.check').click()", number
            )
        self.wide(visitor, "13-selection")
        self.page(visitor, "/albums")
        self.wide(visitor, "13-albums")
        visitor.close()

    def adding(self):
        """What is on its way never arrives, and is forgotten with the browser."""
        visitor = self.plain(self.ada)
        self.timeline(visitor)
        settle(visitor)
        visitor.command("Network.enable")
        visitor.command("Network.setBlockedURLs", urls=["*/gallery/upload/commit"])
        visitor.command(
            "Network.emulateNetworkConditions",
            offline=False,
            latency=20,
            downloadThroughput=-1,
            uploadThroughput=30 << 10,
        )
        visitor.run("""
            const data = new DataTransfer();
            for (let number = 1; number <= 12; number++) {
              const bytes = new Uint8Array(number === 2 ? 9 : 300000);
              data.items.add(new File([bytes], `Walk ${number}.jpg`, { type: "image/jpeg" }));
            }
            for (const name of ["dragenter", "dragover", "drop"])
              document.querySelector("main").dispatchEvent(
                new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));""")
        visitor.see("the panel is there", "return !!document.querySelector('.adding progress')")
        self.wide(visitor, "02-adding")
        visitor.close()

    def photo(self):
        visitor = self.visitor(self.ada)
        path = items + "photos/forest.jpg"
        self.page(visitor, path)
        self.drawn(visitor, "the sphere")
        for width in (1280, 2560):
            visitor.resize(width, 800 if width < 2000 else 1300)
            visitor.look(40, 0, 85)
            visitor.run("document.querySelector('.viewer').classList.remove('idle')")
            self.wide(visitor, "09-controls", width)
        visitor.resize(1280, 800)
        visitor.press("i")
        self.wide(visitor, "03-information")
        visitor.press_button(".over summary[aria-label=Share]")
        self.wide(visitor, "03-share")
        visitor.press("Escape")
        visitor.press("i")
        visitor.press("p")
        self.wide(visitor, "09-planet")
        visitor.press("Home")
        visitor.press("?")
        self.wide(visitor, "09-keys")
        visitor.close()

    def notes(self):
        visitor = self.plain(self.ada)
        self.page(visitor, items + "Trips/Two%20days%20on%20the%20Hohes%20Venn.md")
        for width in (1280, 2560):
            self.wide(visitor, "06-note", width)
        visitor.resize(1280, 800)
        visitor.press_button("details.edit > summary")
        self.wide(visitor, "06-editor")
        visitor.run("addEventListener('beforeunload', event => event.stopImmediatePropagation(), true)")
        self.bo.put("Gear list.md", b"# Gear list\n\n- a rope\n- a tripod\n- two flasks\n")
        self.page(visitor, "/notes/history/byteclub/Gear%20list.md")
        self.wide(visitor, "06-history")
        self.page(visitor, items + "2026-06-21%20Sunrise%20on%20the%20Hohes%20Venn.md")
        self.wide(visitor, "15-type")
        visitor.close()

    def people(self):
        visitor = self.plain(self.ada)
        for path, name in (("/activity", "05-activity"), ("/account", "05-account"), ("/members", "14-members")):
            self.page(visitor, path)
            self.wide(visitor, name)
        visitor.close()

    def guests(self):
        links = {
            "08-photo": self.link("photos/Hohes Venn/sunset.jpg"),
            "08-album": self.link("photos"),
            "08-story": self.link("Trips/Two days on the Hohes Venn.md"),
            "08-gone": self.server.url + "/s/nothing",
        }
        guest = self.browser("guest")
        for name, link in links.items():
            guest.resize(1280, 800)
            guest.open(link)
            if name == "08-photo":
                self.drawn(guest, "a link's sphere")
            self.wide(guest, name)
        guest.resize(2560, 1300)
        guest.open(links["08-story"])
        self.wide(guest, "08-story", 2560)
        guest.close()
        phone = self.browser("guest", phone=True)
        for name in ("08-photo", "08-album"):
            phone.open(links[name])
            settle(phone)
            self.shot(phone, name, 390, scale=0.5)
        phone.close()

    def phone(self):
        phone = self.visitor(self.ada, phone=True)
        for path, name in (
            ("/gallery", "16-phone"),
            (items + "photos/forest.jpg", "09-controls"),
            ("/notes", "06-note"),
            (items + "Trips/Two%20days%20on%20the%20Hohes%20Venn.md", "15-type"),
            ("/members", "14-members"),
            ("/albums", "13-albums"),
            ("/activity", "05-activity"),
        ):
            (self.timeline if path == "/gallery" else self.page)(phone, path)
            settle(phone)
            self.shot(phone, name, 390, scale=0.5)
        phone.close()

    def readme(self):
        """The pictures of the project's first page, one scheme each."""
        visitor = self.visitor(self.ada)
        visitor.resize(1000, 1000)
        self.timeline(visitor)
        settle(visitor)
        self.keep(visitor, "gallery")
        self.page(visitor, items + "photos/forest.jpg")
        self.drawn(visitor, "a sphere")
        visitor.look(40, 10, 80)
        self.keep(visitor, "viewer")
        self.page(visitor, items + "2026-06-21%20Sunrise%20on%20the%20Hohes%20Venn.md")
        settle(visitor)
        self.keep(visitor, "note")
        visitor.close()
        phone = self.visitor(self.ada, phone=True)
        phone.dark()
        self.timeline(phone)
        settle(phone)
        self.keep(phone, "phone")
        phone.close()
        guest = self.browser("guest")
        guest.resize(1000, 1000)
        guest.open(self.link("photos/Hohes Venn/sunset.jpg"))
        self.drawn(guest, "a link's sphere")
        self.keep(guest, "link")
        guest.close()

    @staticmethod
    def keep(visitor, name):
        picture = decoded(visitor.call("GET", "/screenshot"))
        picture.thumbnail((1280, 1280), Image.Resampling.LANCZOS)
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=80, optimize=True, progressive=True)
        told(len(data.getvalue()) < 200 << 10, f"{name}.jpg is {len(data.getvalue()) >> 10} KiB")
        (folder / f"{name}.jpg").write_bytes(data.getvalue())
