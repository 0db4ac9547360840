"""The pages of a club with two members, as these and a guest see them in a browser."""

import io
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy
from PIL import Image
from reprojection import Panorama
from server import Server, password
from static import project
from steps import eventually, told
from visitor import Visitor, without_webgl

fixtures = project / "Fixtures/panoramas"

# Where the pages of photos and notes are.
items = "/gallery/byteclub/"

# A picture that has come, whatever its size.
pictures_there = "return [...document.images].filter(image => image.complete && image.naturalWidth > 0).length"
strip = (
    "const a = document.querySelector('.viewer > a');"
    "return a.checkVisibility({ visibilityProperty: true }) && a.firstElementChild.naturalWidth > 0"
)


class Club:
    """Two members, their photos and notes, and who looks at them."""

    def __init__(self, programs):
        self.server = Server(programs)

    def found(self):
        """Puts members, photos and notes into the club."""
        fetched = subprocess.run([project / "Config/fetch-fixtures", "photos"], capture_output=True, text=True)
        told(fetched.returncode == 0, "there is a real sphere of 5760x2880", fetched.stderr)
        self.sphere = pathlib.Path(fetched.stdout.strip()) / "1.jpg"
        self.ada, self.bo = self.server.member("ada"), self.server.member("bo")
        names = ["city.jpg", "forest.jpg", "partial.jpg", "phone-strip.jpg", "portrait.jpg", "dated.jpg"]
        printed = self.ada.run("photos", "upload", self.sphere, *(fixtures / name for name in names))
        told(len(printed.splitlines()) == 7, "seven photos are uploaded", printed)
        self.ada.write("trip.md", "# The trip\n\nWe meet at **seven** by the car park.\n")
        self.ada.write("photos/1.jpg.md", "The street where we met\n")

    def close(self):
        self.server.close()

    def check(self):
        self.expiring = self.link("photos/forest.jpg", "--expires", "1m"), time.monotonic()
        self.gallery()
        self.phone()
        self.viewer()
        self.upload()
        self.live()
        self.note()
        self.shares()
        self.expired()
        self.without()
        self.many()

    # What is used again and again

    def link(self, path, *options):
        printed = self.ada.run("share", path, *options)
        return next(line for line in printed.splitlines() if line.startswith("http"))

    def visitor(self, member=None, **options):
        """A browser with a profile of its own, in which a member has signed in."""
        visitor = Visitor(member.name if member else "guest", **options)
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
        return visitor

    def page(self, visitor, path):
        visitor.open(self.server.url + path)

    def honest(self, visitor, what):
        """Nothing has shifted, nothing came from elsewhere, the policy is strict and has refused nothing."""
        told(visitor.shift() == 0, f"{what}: the layout has not shifted", visitor.shift())
        told(not visitor.refused(), f"{what}: the policy has refused nothing", visitor.refused())
        asked = [url for url in visitor.requests() if not url.startswith(("data:", "blob:", "chrome:", "about:"))]
        told(
            all(url.startswith(self.server.url + "/") for url in asked),
            f"{what}: all {len(asked)} requests went to the club",
            [url for url in asked if not url.startswith(self.server.url + "/")],
        )
        told(
            "default-src 'none'" in visitor.policy and "unsafe" not in visitor.policy,
            f"{what}: its policy is strict",
            visitor.policy,
        )
        return asked

    def drawn(self, visitor, what):
        eventually(f"{what} is drawn", visitor.view, visitor.text, 20)

    def closely(self, visitor, who):
        """From near, the pixels are those of the whole photo, by tiles that the server makes of it."""
        visitor.look(5, 15, 30)
        eventually(f"{who} gets the tiles of a view from near", lambda: visitor.view()["missing"] == 0, visitor.view)
        tiles = visitor.run(
            "return performance.getEntriesByType('resource').filter(each => each.name.includes('/tiles/')).map(each =>"
            " each.responseStatus)"
        )
        told(tiles and set(tiles) == {200}, f"{len(tiles)} tiles were sent", tiles)
        view, picture = visitor.look(5, 15, 30)
        whole = Panorama(Image.open(self.sphere).convert("RGB"), "sphere")
        wanted, _ = whole.view(view["yaw"], view["pitch"], view["fov"], *picture.size)
        off = numpy.abs(numpy.asarray(picture, dtype=float) - wanted).mean()
        told(off <= 3, f"{who} sees the whole photo's pixels, which differ by {off:.2f} levels, of 3 at most")

    @staticmethod
    def dark(visitor, on=True):
        visitor.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}],
        )

    @staticmethod
    def text_contrast(visitor):
        """The worst contrast of text to what is behind it, and the text."""
        return visitor.run("""
            const canvas = new OffscreenCanvas(1, 1).getContext("2d");
            const rgb = colour => {
              canvas.clearRect(0, 0, 1, 1);
              canvas.fillStyle = colour;
              canvas.fillRect(0, 0, 1, 1);
              return [...canvas.getImageData(0, 0, 1, 1).data]; };
            const light = c => [0, 1, 2].map(i => c[i] / 255)
              .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
              .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            let worst = [21, ""];
            const page = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 255] : [255, 255, 255, 255];
            for (const element of document.querySelectorAll("main *")) {
              const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join("");
              if (!text || !element.checkVisibility({ visibilityProperty: true })) continue;
              let behind = page, alpha = 1;
              for (let e = element; e; e = e.parentElement) {
                alpha *= +getComputedStyle(e).opacity;
                const colour = rgb(getComputedStyle(e).backgroundColor);
                if (colour[3] > 200) { behind = colour; break; }
              }
              const own = rgb(getComputedStyle(element).color), share = own[3] / 255 * alpha;
              const seen = own.map((v, i) => v * share + behind[i] * (1 - share));
              const [a, b] = [light(seen), light(behind)], contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
              if (contrast < worst[0]) worst = [contrast, text.slice(0, 60)];
            }
            return worst;""")

    # The gallery

    def gallery(self):
        visitor = self.visitor(self.ada)
        self.page(visitor, "/gallery")
        names = ["1", "city", "forest", "partial", "phone-strip", "portrait", "dated"]
        told(
            visitor.run(
                "return args[0].filter(name => !document.querySelector(`a[href$='/photos/${name}.jpg'] img`))", names
            )
            == [],
            "the gallery has all photos",
            visitor.text(),
        )
        told("seven by the car park" in visitor.text() or "trip" in visitor.text(), "and the note", visitor.text())
        shape = """
            const box = document.querySelector("a[href$='/photos/1.jpg'] img").getBoundingClientRect();
            const main = document.querySelector("main").getBoundingClientRect();
            return [box.width / main.width, box.width / box.height];"""
        eventually(
            "a panorama has a full row at its true shape, once the server has looked at it",
            lambda: self.page(visitor, "/gallery") or numpy.allclose(visitor.run(shape), (0.95, 2), atol=0.06),
            lambda: visitor.run(shape),
            20,
        )
        eventually("the pictures that are seen have come", lambda: visitor.run(pictures_there) >= 2, visitor.text)
        visitor.run("""
            for (let y = 0; y < document.body.scrollHeight; y += 400) {
              window.scrollTo(0, y);
              await new Promise(done => setTimeout(done, 50));
            }""")
        eventually("all pictures have come", lambda: visitor.run(pictures_there) >= 7, visitor.text)
        visitor.run("window.scrollTo(0, 0)")
        missing = visitor.run(
            "return [...document.images].filter(image => !image.hasAttribute('alt') || !image.getAttribute('width') ||"
            " !image.getAttribute('height')).map(image => image.outerHTML)"
        )
        told(missing == [], "each picture has its size and words", missing)
        visitor.photograph("looks at the gallery")
        for name, on in (("light", False), ("dark", True)):
            self.dark(visitor, on)
            worst, text = self.text_contrast(visitor)
            told(worst >= 4.5, f"the gallery's text has a contrast of {worst:.1f} at least in the {name}", text)
        visitor.photograph("looks at the gallery at night")
        self.honest(visitor, "the gallery")
        visitor.close()

    def phone(self):
        visitor = self.visitor(self.bo, phone=True)
        for path, name in (
            ("/gallery", "the gallery"),
            (items + "photos/1.jpg", "a sphere"),
            (items + "photos/portrait.jpg", "a photo"),
            (items + "trip.md", "a note"),
        ):
            for dark in (False, True):
                self.dark(visitor, dark)
                self.page(visitor, path)
                time.sleep(1)
                wide = visitor.run("return document.documentElement.scrollWidth - innerWidth")
                told(wide <= 0, f"a phone of 390 px shows {name} without scrolling sideways", wide)
                visitor.photograph(f"looks at {name}{' at night' if dark else ''}")
            self.honest(visitor, f"{name} on a phone")
        visitor.close()

    def viewer(self):
        """A tour by keyboard alone, and the pixels of the server's own renditions."""
        visitor = self.visitor(self.ada)
        self.page(visitor, "/gallery")
        visitor.focus("a[href$='/photos/1.jpg']")
        visitor.press("Enter")
        eventually("Enter opens the photo", lambda: visitor.run("return location.pathname").endswith("/photos/1.jpg"))
        self.drawn(visitor, "the sphere")
        for _ in range(40):
            visitor.press("Tab")
            if visitor.run("return document.activeElement.tagName") == "CANVAS":
                break
        told(visitor.run("return document.activeElement.tagName") == "CANVAS", "Tab reaches the viewer")
        label = visitor.run("return document.activeElement.getAttribute('aria-label')")
        told("street" in label, "its label is the caption", label)
        visitor.press("Right", "Shift+Up", "+")
        view = visitor.settled()
        told(
            (round(view["yaw"]), round(view["pitch"]), round(view["fov"])) == (5, 15, 72),
            "arrows and plus turn and zoom",
            view,
        )
        visitor.photograph("looks around in a sphere")
        self.closely(visitor, "a member")
        path = visitor.run("return location.pathname")
        visitor.press("Home", "Left", "Left", "f")
        eventually("F fills the screen", lambda: visitor.run("return !!document.querySelector('.viewer.full')"))
        visitor.photograph("fills the screen with a sphere")
        visitor.press("Escape")
        eventually("Escape closes it", lambda: not visitor.run("return !!document.querySelector('.viewer.full')"))
        told(visitor.run("return document.activeElement.tagName") == "CANVAS", "the focus is back")
        told(visitor.run("return location.pathname") == path, "no key has left the photo")
        x, y = visitor.place(".viewer canvas")
        visitor.drag_path([(x + 200, y), (x, y), (x - 200, y)], kind="touch")
        told(visitor.run("return location.pathname") == path, "no swipe has left the photo")
        self.honest(visitor, "the sphere's page")
        visitor.call("POST", "/back", {})
        eventually("Back goes to the gallery", lambda: visitor.run("return location.pathname") == "/gallery")
        for name, kind in (("partial", "partialSphere"), ("phone-strip", "strip"), ("portrait", "flat")):
            self.page(visitor, items + f"photos/{name}.jpg")
            shown = visitor.run("return document.querySelector('.viewer').dataset.kind")
            told(shown == kind, f"{name} is shown as {kind}", shown)
            if kind == "partialSphere":
                self.drawn(visitor, name)
            else:
                eventually(
                    f"{name} is there",
                    lambda: visitor.run("return document.querySelector('.viewer img').naturalWidth > 0"),
                )
            visitor.photograph(f"looks at {name}")
            self.honest(visitor, f"{name}'s page")
        visitor.close()

    # Changes

    def upload(self):
        """Photos by the page: one is chosen, one dropped, and one taken back on its way."""
        visitor = self.visitor(self.ada)
        self.page(visitor, "/gallery")
        kept, back = self.ada.home / "from the page.jpg", self.ada.home / "taken back.jpg"
        kept.write_bytes((fixtures / "studio.jpg").read_bytes())
        # Bytes after the end of a JPEG are part of the file, and make this one long enough to be taken back.
        back.write_bytes((fixtures / "sunset.jpg").read_bytes() + bytes(8 << 20))
        there = "return !!document.querySelector(`a[href$='${args[0]}'] img`)"
        self.choose(visitor, kept)
        eventually("a photo that is chosen is there", lambda: visitor.run(there, "from%20the%20page.jpg"), visitor.text)
        visitor.run("""
            const answer = await fetch(document.querySelector("main a img").src), data = new DataTransfer();
            data.items.add(new File([await answer.blob(), "dropped"], "dropped.jpg", { type: "image/jpeg" }));
            for (const name of ["dragover", "drop"])
              document.querySelector("main").dispatchEvent(
                new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));""")
        eventually("a photo that is dropped is there", lambda: visitor.run(there, "dropped.jpg"), visitor.text)
        self.slow(visitor, 256 << 10)
        self.choose(visitor, back)
        progress = "const bar = document.querySelector('progress'); return bar ? bar.position : -1"
        eventually("the progress is shown", lambda: visitor.run(progress) > 0.02, visitor.text)
        visitor.photograph("uploads a photo")
        visitor.click("Cancel")
        eventually("Cancel ends it", lambda: visitor.run(progress) == -1, visitor.text)
        self.slow(visitor, -1)
        time.sleep(1)
        visitor.photograph("has taken it back")
        listed = self.ada.run("photos", "list")
        told(
            "from the page.jpg" in listed and "taken back" not in listed,
            "the club has the one and nothing of the other",
            listed,
        )
        stored = self.ada.home / "stored.jpg"
        self.ada.run("photos", "download", "from the page.jpg", "-o", stored)
        told(stored.read_bytes() == kept.read_bytes(), "its bytes are those that were chosen")
        self.honest(visitor, "the gallery with uploads")
        visitor.close()

    @staticmethod
    def choose(visitor, file):
        (chooser,) = visitor.elements("input[type=file]")
        visitor.call("POST", f"/element/{chooser}/value", {"text": str(file)})
        visitor.click("Upload")

    @staticmethod
    def slow(visitor, bytes_a_second):
        """Lets uploads pass no faster than that; -1 for as fast as they can."""
        visitor.command("Network.enable")
        visitor.command(
            "Network.emulateNetworkConditions",
            offline=False,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=bytes_a_second,
        )

    def live(self):
        """What Ada puts there is in Bo's open page within a second of its last byte."""
        visitor = self.visitor(self.bo)
        self.page(visitor, "/gallery")
        time.sleep(1)
        watch = """
            window.arrivals = {};
            const look = () => { for (const name of args[0]) {
              const found = document.querySelector(`a[href$='${name}']`);
              if (found && !arrivals[name]) arrivals[name] = Date.now(); } };
            new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });"""
        names = ["live1.jpg", "live2.jpg", "live3.jpg", "live.md"]
        visitor.run(watch, names)
        visitor.run("window.stays = true")
        took = []
        for name, source in zip(names, ("night.jpg", "interior.jpg", "courtyard.jpg")):
            sent = self.ada.put("photos/" + name, (fixtures / source).read_bytes())
            eventually(
                f"{name} is in the other's page",
                lambda: visitor.run("return arrivals[args[0]]", name),
                visitor.text,
                10,
            )
            took.append(visitor.run("return arrivals[args[0]]", name) - sent)
        sent = self.ada.put("live.md", b"# Just now\n")
        eventually("a note as well", lambda: visitor.run("return arrivals['live.md']"), visitor.text, 10)
        took.append(visitor.run("return arrivals['live.md']") - sent)
        told(
            max(took) <= 1000,
            "they came " + ", ".join(f"{each:.0f}" for each in took) + " ms after their last byte, of 1000 at most",
        )
        told(visitor.run("return window.stays"), "the page was not loaded again")
        eventually(
            "the pictures are there",
            lambda: visitor.run("return document.querySelector(\"a[href$='live1.jpg'] img\").naturalWidth > 0"),
        )
        visitor.photograph("sees photos arrive")
        visitor.close()

    def note(self):
        """Two members have a note open: edits of different lines are merged, of the same line nobody loses anything."""
        self.ada.write("plan.md", "# Plan\n\nBring water.\n\nMeet at seven.\n")
        ada, bo = self.visitor(self.ada), self.visitor(self.bo)

        def shown():
            return self.ada.run("notes", "show", "plan.md")

        def saved(what, text):
            eventually(what, lambda: shown() == text, shown)

        first = "# Plan\n\nBring water.\n\nMeet at eight.\n"
        both = "# Our plan\n\nBring water.\n\nMeet at eight.\n"
        self.edit(ada, bo)
        self.save(bo, first)
        saved("the first edit is saved", first)
        self.save(ada, "# Our plan\n\nBring water.\n\nMeet at seven.\n")
        saved("an edit of another line is merged", both)
        self.edit(ada, bo)
        bread = both.replace("water", "bread")
        self.save(bo, bread)
        saved("another edit is saved", bread)
        self.save(ada, both.replace("water", "rope"))
        eventually("an edit of the same line is told of it", lambda: "omebody else" in ada.text(), ada.text)
        ada.photograph("is told of another edit")
        told("bread" in ada.text() and shown() == bread, "the other text stands and is shown", shown())
        text = ada.run("return document.querySelector('textarea').value")
        told("rope" in text, "the own text is still there", text)
        self.honest(ada, "a note with two texts")
        self.save(ada, both.replace("water", "rope and bread"))
        saved("both texts are saved", both.replace("water", "rope and bread"))
        ada.photograph("has saved both texts")
        for visitor in (ada, bo):
            visitor.close()

    def edit(self, *visitors):
        """Opens the note with its editor."""
        for visitor in visitors:
            self.page(visitor, items + "plan.md")
            visitor.click_on("summary")
            eventually(
                f"{visitor.name} has the editor open",
                lambda: visitor.run("return document.querySelector('textarea').checkVisibility()"),
                visitor.text,
            )

    @staticmethod
    def save(visitor, text):
        (area,) = visitor.elements("textarea")
        visitor.call("POST", f"/element/{area}/clear", {})
        visitor.call("POST", f"/element/{area}/value", {"text": text})
        visitor.click("Save")

    # Guests

    def shares(self):
        """A guest with a link sees what is shared, without its place, and nothing else."""
        photo, folder = self.link("photos/1.jpg"), self.link("photos")
        guest = self.visitor()
        guest.open(photo)
        self.drawn(guest, "the shared sphere")
        guest.focus(".viewer canvas")
        guest.press("Right")
        told(guest.settled()["yaw"] == 5, "keys turn it", guest.view())
        guest.photograph("has a link to a sphere")
        self.closely(guest, "a guest")
        self.honest(guest, "a shared photo's page")
        told(
            "/gallery" not in guest.run("return [...document.querySelectorAll('a')].map(a => a.href).join()"),
            "no link leads into the club",
        )
        download = guest.run(
            "const a = [...document.querySelectorAll('a')].find(a => /ownload/.test(a.textContent)); return a && a.href"
        )
        data = urllib.request.urlopen(download).read()
        place = Image.open(io.BytesIO(data)).getexif().get_ifd(0x8825)
        told(
            not place and b"GPSL" not in data and b"exif:GPS" not in data,
            "what a guest downloads does not tell where it was taken",
            place,
        )
        told(Image.open(self.sphere).getexif().get_ifd(0x8825), "the original does")
        for path in ("/gallery", items + "photos/1.jpg", "/1/metadata/dropbox/byteclub"):
            seen = guest.run(
                "const answer = await fetch(args[0]); return [answer.status, answer.redirected, new"
                " URL(answer.url).pathname]",
                path,
            )
            told(seen[0] >= 400 or seen[2] == "/login", f"the guest does not get {path}", seen)
        guest.open(folder)
        eventually("a shared folder shows its photos", lambda: guest.run(pictures_there) >= 2, guest.text)
        guest.photograph("has a link to a folder")
        self.honest(guest, "a shared folder's page")
        guest.close()
        phone = self.visitor(phone=True)
        phone.open(photo)
        self.drawn(phone, "the shared sphere")
        phone.photograph("has a link to a sphere on a phone")
        phone.close()
        self.locked()
        self.revoked(photo)

    def locked(self):
        """A link with a password shows nothing before that is told."""
        link = self.ada.share("photos/partial.jpg", password="seven geese")
        guest = self.visitor()
        guest.open(link)
        nothing = "return !document.querySelector('.viewer, img') && !/partial/.test(document.body.innerText)"
        told(guest.run(nothing), "a link with a password tells nothing", guest.text())
        guest.photograph("is asked for a password")
        guest.fill("Password", "six geese")
        guest.click("Open")
        eventually("a wrong password is told to be wrong", lambda: "wrong" in guest.text(), guest.text)
        told(guest.run(nothing), "and opens nothing", guest.text())
        guest.fill("Password", "seven geese")
        guest.click("Open")
        eventually("the right password opens it", lambda: not guest.run(nothing), guest.text)
        self.drawn(guest, "what is behind the password")
        self.honest(guest, "a page behind a password")
        guest.close()
        told(urllib.request.urlopen(self.ada.share("photos/city.jpg")).status == 200, "another link needs none")

    def revoked(self, link):
        self.ada.run("share", "--revoke", "photos/1.jpg")
        guest = self.visitor()
        guest.open(link)
        told(
            not guest.run("return !!document.querySelector('.viewer, img')"),
            "a link that was taken back leads nowhere",
            guest.text(),
        )
        guest.photograph("has a link that was taken back")
        guest.close()

    def expired(self):
        if not hasattr(self, "expiring"):
            self.expiring = self.link("photos/forest.jpg", "--expires", "1m"), time.monotonic()
        link, began = self.expiring
        guest = self.visitor()
        time.sleep(max(0, began + 62 - time.monotonic()))
        guest.open(link)
        told(
            not guest.run("return !!document.querySelector('.viewer, img')"),
            "a link that has ended leads nowhere",
            guest.text(),
        )
        guest.photograph("has a link that has ended")
        status = urllib.request.Request(link)
        try:
            code = urllib.request.urlopen(status).status
        except urllib.error.HTTPError as error:
            code = error.code
        told(code in (404, 410), "and says so", code)
        guest.close()

    # Without

    def without(self):
        visitor = self.visitor(self.ada)
        visitor.command("Emulation.setScriptExecutionDisabled", value=True)
        for path, name in (
            ("/gallery", "the gallery"),
            (items + "photos/1.jpg", "a sphere"),
            (items + "trip.md", "a note"),
        ):
            self.page(visitor, path)
            time.sleep(1)
            visitor.photograph(f"has no scripts and looks at {name}")
        visitor.command("Emulation.setScriptExecutionDisabled", value=False)
        self.page(visitor, "/gallery")
        visitor.command("Emulation.setScriptExecutionDisabled", value=True)
        self.page(visitor, items + "photos/1.jpg")
        visitor.command("Emulation.setScriptExecutionDisabled", value=False)
        told(
            visitor.run(strip) and not visitor.run("return !!document.querySelector('.viewer-tools')"),
            "without scripts a sphere is a strip to scroll",
        )
        visitor.close()
        visitor = self.visitor(self.ada, switches=without_webgl)
        self.page(visitor, items + "photos/1.jpg")
        eventually("without WebGL a sphere is a strip to pan", lambda: visitor.run(strip), visitor.text)
        visitor.photograph("has no WebGL")
        visitor.close()

    # Many

    def many(self):
        """A gallery of 500 panoramas asks for few of them before somebody scrolls; what ordinary photos ask is told."""
        visitor = self.visitor(self.bo)
        self.add_many("panorama", 500, (1280, 640))
        asked = self.before_scrolling(visitor, "a gallery of 500 panoramas")
        told(len(asked) <= 12, f"its page makes {len(asked)} requests before scrolling, of 12 at most", asked)
        visitor.photograph("looks at a gallery of 500")
        visitor.run("""
            for (let y = 0; y < 4000; y += 400) {
              window.scrollTo(0, y);
              await new Promise(done => setTimeout(done, 100));
            }""")
        told(visitor.shift() == 0, "scrolling shifts nothing", visitor.shift())
        self.add_many("ordinary", 60, (640, 480))
        asked = self.before_scrolling(visitor, "a gallery that begins with 60 ordinary photos")
        told(True, f"its page makes {len(asked)} requests before scrolling")
        visitor.close()

    def add_many(self, name, count, size):
        folder = self.ada.home / name
        folder.mkdir()
        colours = numpy.random.default_rng(count)
        for number in range(count):
            blocks = Image.fromarray(colours.integers(0, 256, (6, 8, 3), dtype=numpy.uint8))
            blocks.resize(size, Image.Resampling.BICUBIC).save(folder / f"{name}{number:03}.jpg", quality=80)
        self.ada.run("photos", "upload", folder)

    def before_scrolling(self, visitor, what):
        """What the first page asks for when the server knows its photos."""
        self.page(visitor, "/gallery")
        time.sleep(5)
        visitor.command("Network.clearBrowserCache")
        visitor.requests()
        began = time.monotonic()
        self.page(visitor, "/gallery")
        took = time.monotonic() - began
        time.sleep(3)
        count = visitor.run("return document.querySelectorAll('main a img').length")
        asked = self.honest(visitor, f"{what} ({count} on its first page, loaded in {took:.1f} s)")
        return [re.sub("[0-9a-f]{64}", "HASH", urllib.parse.urlsplit(url).path) for url in asked]
