"""The viewer alone, on pages with one picture each: pixels, limits, keys, and what it does without WebGL."""

import itertools
import statistics
import subprocess
import time

import numpy
from PIL import Image
from reprojection import Panorama
from static import StaticSite, project, templates
from steps import eventually, told
from visitor import Visitor, without_webgl

# Levels of 255 that a view may differ by from what it must be, as a mean over its pixels.
allowed = 3.0


class Viewers:
    """Test pictures of each kind, all made of one real sphere, on pages of their own."""

    def __init__(self, _):
        fetched = subprocess.run([project / "Config/fetch-fixtures", "photos"], capture_output=True, text=True)
        told(fetched.returncode == 0, "there is a real sphere of 5760x2880", fetched.stderr)
        sphere = Image.open(f"{fetched.stdout.strip()}/1.jpg").convert("RGB")
        self.site = StaticSite()
        self.panoramas = {}
        self.add("sphere", sphere, "sphere", heading=40)
        self.add("partial", sphere.crop((3000, 500, 5400, 1700)), "partialSphere", 150, 75, 82.5, 21.25)
        self.add("band", sphere.crop((0, 968, 5760, 1912)), "partialSphere", 360, 59, 0, 0)
        self.add("cylinder", sphere.crop((1280, 800, 4480, 2080)), "cylinder", 200, 80, -30, 5)
        self.add("round", sphere.crop((0, 800, 5760, 2080)), "cylinder", 360, 80, 0, 0)
        self.add("smooth", smooth_sphere(4096), "sphere")
        # The same with tiles, which only large ones have.
        self.full = {
            "tiled-sphere": sphere,
            "tiled-partial": sphere.crop((0, 500, 4801, 1701)),
            "tiled-cylinder": sphere.crop((500, 800, 5300, 2080)),
            "tiled-smooth": smooth_sphere(5760),
        }
        self.add_full("tiled-sphere", "sphere")
        self.add_full("tiled-partial", "partialSphere", 4801 / 16, 1201 / 16, -29.96875, 21.21875)
        self.add_full("tiled-cylinder", "cylinder", 300, 80, 10, 5)
        self.add_full("tiled-smooth", "sphere")
        self.site.add("strip", sphere.crop((0, 800, 5760, 2080)), "strip", "A long street")
        self.site.add(
            "tall", sphere.crop((0, 800, 5760, 2080)).transpose(Image.Transpose.ROTATE_90), "strip", "A tall strip"
        )
        self.site.add("maybe", sphere, "strip", "Perhaps a sphere", may_be_sphere="")
        self.site.add("flat", sphere.crop((2000, 1000, 3500, 2000)), "flat", "An ordinary photo")

    def add(self, name, picture, kind, hfov=None, vfov=None, yaw=None, pitch=None, **attributes):
        """A page, and the same panorama for the comparison."""
        angles = {
            key: value for key, value in dict(hfov=hfov, vfov=vfov, yaw=yaw, pitch=pitch).items() if value is not None
        }
        self.site.add(name, picture, kind, f"A street, {name}", **angles, **attributes)
        self.panoramas[name] = kind, angles

    def add_full(self, name, kind, *angles):
        self.add(name, self.full[name], kind, *angles, tiles=512)

    def panorama(self, name, size):
        kind, angles = self.panoramas[name]
        return Panorama(Image.open(self.site.rendition(name, size)).convert("RGB"), kind, **angles)

    def close(self):
        """Nothing: its site ends with the program."""

    def check(self):
        self.pixels()
        self.seam()
        self.tiles()
        self.tiles_at_need()
        self.first_frame()
        self.keys_and_pointers()
        self.full_screen()
        self.motion()
        self.flat_pictures()
        self.phone()
        self.fallbacks()

    def open(self, visitor, name):
        """Opens a page and waits until its panorama is drawn."""
        visitor.open(f"{self.site.url}/{name}")
        eventually(f"{name} is drawn", visitor.view, lambda: visitor.call("POST", "/se/log", {"type": "browser"}), 20)

    # Pixels

    def pixels(self):
        """64 directions of each panorama, against the reprojection."""
        visitor = Visitor("eva")
        for name in ("sphere", "partial", "band", "cylinder", "round"):
            self.open(visitor, name)
            references, differences, outside = {}, [], 0
            for (yaw, pitch), fov in zip(
                itertools.product(range(-180, 180, 15), (-90, -35, 0, 35, 90)), itertools.cycle((100, 35, 70))
            ):
                view, picture = visitor.look(yaw, pitch, fov)
                reference = references.get(view["size"])
                if reference is None:
                    reference = references[view["size"]] = self.panorama(name, view["size"])
                wanted, inside = reference.view(view["yaw"], view["pitch"], view["fov"], *picture.size)
                differences.append(numpy.abs(numpy.asarray(picture, dtype=float) - wanted).mean())
                outside += (~inside).sum()
            told(
                max(differences) <= allowed,
                f"{name}: {len(differences)} directions differ by {statistics.mean(differences):.2f} levels in the"
                f" mean, the worst by {max(differences):.2f}, of {allowed:.0f} at most; pictures of"
                f" {sorted(references)}",
            )
            told(outside == 0, f"{name}: no view shows anything but the picture", f"{outside} pixels")
            if name in ("partial", "cylinder"):
                self.limits(visitor, self.panorama(name, 2048), name)
            visitor.look(60, 10, 70)
            visitor.photograph(f"looks at {name}")
        visitor.close()

    @staticmethod
    def limits(visitor, panorama, name):
        """At each limit there is nothing left to see: half a degree further lies no picture."""
        for yaw, pitch, right, up in (
            (-180, 0, -0.5, 0),
            (180, 0, 0.5, 0),
            (panorama.yaw, 90, 0, 0.5),
            (panorama.yaw, -90, 0, -0.5),
        ):
            if abs(panorama.yaw) > 90 and yaw * panorama.yaw < 0:
                continue
            view, picture = visitor.look(panorama.yaw + yaw, pitch, 60)
            _, inside = panorama.view(view["yaw"] + right, view["pitch"] + up, view["fov"], *picture.size)
            told(
                not inside.all(),
                f"{name}: the view goes {'right' if right > 0 else 'left' if right else 'up' if up > 0 else 'down'}"
                " to the edge of the picture",
                view,
            )

    def seam(self):
        """Where the picture closes, no column differs more from its neighbours than any other."""
        visitor = Visitor("eva")
        for name in ("smooth", "sphere"):
            self.open(visitor, name)
            for pitch, fov in ((0, 90), (0, 20), (50, 60), (-50, 60)):
                view, picture = visitor.look(180, pitch, fov)
                pixels = numpy.asarray(picture, dtype=float)
                wanted, _ = self.panorama(name, view["size"]).view(
                    view["yaw"], view["pitch"], view["fov"], *picture.size
                )
                middle = picture.width // 2
                off = numpy.abs(pixels - wanted).mean(axis=(0, 2))
                bend = numpy.abs(pixels[:, :-2] - 2 * pixels[:, 1:-1] + pixels[:, 2:]).mean(axis=(0, 2))
                told(
                    off[middle - 2 : middle + 2].max() <= off.max() + 1e-9 and off.max() < 1,
                    f"{name} at 180, {pitch}: each column differs by {off.max():.2f} at most from what it must be, the"
                    f" seam's by {off[middle - 2:middle + 2].max():.2f}",
                    off,
                )
                if name == "smooth":
                    at, others = (
                        bend[middle - 3 : middle + 2].max(),
                        numpy.delete(bend, range(middle - 3, middle + 2)).max(),
                    )
                    told(
                        at <= others * 1.1,
                        f"{name} at 180, {pitch}: the seam bends by {at:.2f} levels, other columns by "
                        f"up to {others:.2f}",
                    )
        visitor.close()

    # Tiles

    @staticmethod
    def look_closely(visitor, yaw, pitch, fov):
        """A view and its pixels once all its tiles are there."""
        visitor.look(yaw, pitch, fov)
        Viewers.wait(visitor, lambda view: view["missing"] == 0)
        return visitor.look(yaw, pitch, fov)

    @staticmethod
    def wait(visitor, condition):
        end = time.monotonic() + 30
        while not condition(visitor.view()):
            if time.monotonic() > end:
                told(False, "what a view needs comes within 30 seconds", visitor.view())
            time.sleep(0.02)

    def tiles(self):
        """Views from near, against the reprojection of the whole photo, and beside the largest rendition."""
        visitor = Visitor("eva")
        for name in self.full:
            self.open(visitor, name)
            kind, angles = self.panoramas[name]
            full = Panorama(self.full[name], kind, **angles)
            visitor.look(0, 0, 30)
            self.wait(visitor, lambda view: view["size"] == 4096)
            base = self.panorama(name, 4096)
            differences, without, sharpness = [], [], []
            # More directions than there is room for tiles; 180 is where a sphere closes, 12 where two tiles meet.
            directions = itertools.product((-168, -120, -60, 12, 60, 120, 180), (-90, -40, 0, 40, 90))
            for (yaw, pitch), fov in zip(directions, itertools.cycle((36, 20, 12))):
                view, picture = self.look_closely(visitor, yaw, pitch, fov)
                pixels = numpy.asarray(picture, dtype=float)
                place = view["yaw"], view["pitch"], view["fov"], *picture.size
                wanted, blurred = full.view(*place)[0], base.view(*place)[0]
                differences.append(numpy.abs(pixels - wanted).mean())
                without.append(numpy.abs(blurred - wanted).mean())
                sharpness.append(edges(pixels) / max(edges(blurred), 0.01))
            told(
                max(differences) <= allowed,
                f"{name}: {len(differences)} views from near differ from the whole photo by"
                f" {statistics.mean(differences):.2f} levels in the mean, the worst by {max(differences):.2f}, of"
                f" {allowed:.0f} at most; without tiles by {statistics.mean(without):.2f} and {max(without):.2f}",
            )
            if name != "tiled-smooth":
                told(
                    statistics.mean(differences) < statistics.mean(without) and statistics.mean(sharpness) > 1.1,
                    f"{name}: edges are {statistics.mean(sharpness):.2f} times as strong as without tiles",
                )
            visitor.photograph(f"looks closely at {name}")
        view, picture = self.look_closely(visitor, 12, 0, 20)
        pixels = numpy.asarray(picture, dtype=float)
        bend = numpy.abs(pixels[:, :-2] - 2 * pixels[:, 1:-1] + pixels[:, 2:]).mean(axis=(0, 2))
        seam = range(picture.width // 2 - 3, picture.width // 2 + 2)
        at, others = bend[list(seam)].max(), numpy.delete(bend, seam).max()
        told(at <= others * 1.1, f"where two tiles meet columns bend by {at:.2f} levels, others by up to {others:.2f}")
        told(visitor.refused() == [], "the policy has refused nothing", visitor.refused())
        visitor.close()

    def tiles_at_need(self):
        """Who zooms gets the tiles in view, the middle first, and others none; without any the picture stays."""
        visitor = Visitor("eva")
        self.open(visitor, "tiled-sphere")
        self.site.asked.clear()
        visitor.look(0, 0, 110)
        visitor.settled()
        told(not self.tiles_asked(), "a wide view needs no tiles", self.tiles_asked())
        self.look_closely(visitor, 20, 0, 20)
        asked = self.tiles_asked()
        told(asked[0] == "6-2", "the tile in the middle is fetched first", asked)
        told(
            len(asked) == len(set(asked)) <= 9,
            f"{len(asked)} tiles are fetched for a view of 20 degrees, each once",
            asked,
        )
        self.look_closely(visitor, 21, 1, 20)
        told(self.tiles_asked() == asked, "a view within them fetches none", self.tiles_asked())
        view, _ = visitor.look(20, 0, 1)
        told(view["fov"] == 10, "the zoom ends where it did without tiles, as these pixels are large then", view)
        tiles = {
            path: self.site.pictures.pop(path) for path in list(self.site.pictures) if "/tiled-sphere/tiles/" in path
        }
        self.site.asked.clear()
        visitor.look(-90, 0, 20)
        time.sleep(4)
        told(
            0 < len(self.tiles_asked()) <= 16,
            "tiles that are not there are asked for ever less often",
            self.tiles_asked(),
        )
        view, picture = visitor.look(-90, 0, 20)
        wanted, _ = self.panorama("tiled-sphere", 4096).view(-90, 0, 20, *picture.size)
        off = numpy.abs(numpy.asarray(picture, dtype=float) - wanted).mean()
        told(off <= allowed, f"without tiles the picture stays, and differs by {off:.2f} levels from itself")
        self.site.pictures.update(tiles)
        eventually("once the tiles are there, they are shown", lambda: visitor.view()["missing"] == 0)
        visitor.close()

    def tiles_asked(self):
        return [path.rpartition("/")[2].removesuffix(".jpg") for path in self.site.asked if "/tiles/" in path]

    def first_frame(self):
        times = []
        for _ in range(3):
            visitor = Visitor("eva")
            self.open(visitor, "sphere")
            times.append(visitor.frames()[0]["time"])
            visitor.close()
        told(
            statistics.median(times) <= 1500,
            "the first frame of 5760x2880 in a fresh browser comes after "
            + ", ".join(f"{each:.0f}" for each in times)
            + " ms, of 1500 at most",
        )

    # Hands

    def keys_and_pointers(self):
        visitor = Visitor("eva")
        self.open(visitor, "sphere")
        visitor.focus("p a")
        visitor.press("Tab")
        element = visitor.run(
            "const e = document.activeElement; return [e.tagName, e.getAttribute('role'), e.getAttribute('aria-label')]"
        )
        told(
            element == ["CANVAS", "img", "A street, sphere"],
            "Tab goes to the canvas, an image with the caption as its label",
            element,
        )
        visitor.photograph("has the focus on the canvas")
        start = visitor.settled()

        def turned(what, names, yaw, pitch, fov=None):
            visitor.press("Home")
            visitor.settled()
            visitor.press(*names)
            view = visitor.settled()
            right = (
                abs(view["yaw"] - yaw) < 0.01
                and abs(view["pitch"] - pitch) < 0.01
                and (fov is None or abs(view["fov"] - fov) < 0.01)
            )
            told(right, f"{' '.join(names)}: {what}", view)

        turned("5 degrees to the right", ["Right"], 5, 0)
        turned("5 degrees to the left", ["Left"], -5, 0)
        turned("5 degrees up", ["Up"], 0, 5)
        turned("5 degrees down", ["Down"], 0, -5)
        turned("15 degrees", ["Shift+Right", "Shift+Up"], 15, 15)
        turned("right beneath the sky", ["Shift+Up"] * 7, 0, 90)
        turned("nearer", ["+"], 0, 0, 72)
        turned("farther", ["-"], 0, 0, 112.5)
        turned("back at the start", ["Right", "+", "Home"], start["yaw"], start["pitch"], start["fov"])
        scrolled = visitor.run("return scrollY")
        told(scrolled == 0, "no key has scrolled the page", scrolled)

        x, y = visitor.place(".viewer canvas")
        width = visitor.run("return document.querySelector('canvas').clientWidth")
        visitor.drag_path([(x, y), (x - 50, y), (x - 100, y)], rest=200)
        view = visitor.settled()
        told(
            0 < view["yaw"] < numpy.degrees(100 / width * 2) + 0.5,
            "a drag to the left by 100 pixels turns right by their angle",
            view,
        )
        visitor.press("Home")
        visitor.drag_path([(x, y), (x - 40, y + 20), (x - 80, y + 40)], kind="touch", rest=200)
        view = visitor.settled()
        told(view["yaw"] > 5 and view["pitch"] > 3, "a finger turns the view", view)
        visitor.press("Home")
        visitor.pinch(".viewer canvas", 40, 120)
        view = visitor.settled()
        told(20 < view["fov"] < 45, f"two fingers that part by 3 zoom to {view['fov']:.0f} degrees", view)
        visitor.press("Home")
        visitor.scroll(".viewer canvas", -200)
        view = visitor.settled()
        told(abs(view["fov"] - 90 * numpy.exp(-0.2)) < 0.5, "the wheel zooms", view)
        buttons = [("Zoom in", 72), ("Zoom out", 112.5)]
        for label, fov in buttons:
            visitor.press("Home")
            visitor.click_on(f".viewer button[aria-label='{label}']")
            told(abs(visitor.settled()["fov"] - fov) < 0.01, f"the button '{label}' does", visitor.view())
            visitor.focus(".viewer canvas")
        told(visitor.run("return location.pathname") == "/sphere", "no swipe has left the photo")
        told(
            visitor.run("return document.querySelector('.viewer-compass').textContent") == "NE 40°",
            "the heading is shown",
        )
        visitor.press("+", "+", "+")
        eventually("a view that is near gets the large picture", lambda: visitor.view()["size"] == 4096)
        told(visitor.shift() == 0, "nothing has shifted", visitor.shift())
        told(visitor.refused() == [], "the policy has refused nothing", visitor.refused())
        visitor.close()

    def full_screen(self):
        visitor = Visitor("eva")
        self.open(visitor, "sphere")
        for css, keys in ((".viewer canvas", ["f"]), (".viewer button[value=f]", ["Enter"])):
            visitor.focus(css)
            visitor.press(*keys)
            full = (
                "const box = document.querySelector('.viewer canvas').getBoundingClientRect();"
                "return box.width === innerWidth && box.height > innerHeight * 0.9"
            )
            eventually(f"{keys[0]} on {css} fills the screen", lambda: visitor.run(full))
            visitor.settled()
            visitor.photograph("fills the screen")
            visitor.press("Right")
            told(visitor.settled()["yaw"] > 0, "keys turn the view there")
            visitor.press("Escape")
            eventually("Escape closes it", lambda: not visitor.run(full))
            told(
                visitor.run("return document.activeElement === document.querySelector(args[0])", css),
                "the focus is back where it was",
            )
            visitor.focus(".viewer canvas")
            visitor.press("Home")
        visitor.close()

    def motion(self):
        visitor = Visitor("eva")
        for still in (False, True):
            self.open(visitor, "sphere")
            if still:
                visitor.command(
                    "Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}]
                )
            x, y = visitor.place(".viewer canvas")
            visitor.settled()
            visitor.drag_path([(x, y), (x - 30, y), (x - 60, y), (x - 90, y)])
            end = visitor.view()["yaw"]
            rest = visitor.settled()["yaw"]
            if still:
                told(abs(rest - end) < 0.01, "who wants less motion gets no swing", (end, rest))
            else:
                told(rest > end, f"a swing goes on from {end:.0f} to {rest:.0f} degrees and rests", (end, rest))
            count = visitor.run("return seen.frames.length")
            time.sleep(1)
            told(visitor.run("return seen.frames.length") == count, "at rest no frame is drawn")
        visitor.close()

    # Flat pictures

    def flat_pictures(self):
        visitor = Visitor("eva")
        scroll = (
            "const a = document.querySelector('.viewer > a'); return [a.scrollLeft, a.scrollTop, a.scrollWidth -"
            " a.clientWidth, a.scrollHeight - a.clientHeight]"
        )
        for name, axis, keys in (("strip", 0, ("Left", "Right")), ("tall", 1, ("Up", "Down"))):
            visitor.open(f"{self.site.url}/{name}")
            eventually(
                f"{name} is in its frame", lambda: visitor.run(scroll)[axis + 2] > 500, lambda: visitor.run(scroll)
            )
            start = visitor.run(scroll)
            told(
                abs(start[axis] - start[axis + 2] / 2) < 2 and start[3 - axis] < 20,
                f"{name} begins in its middle",
                start,
            )
            visitor.focus(".viewer > a")
            visitor.press(keys[0], keys[0], keys[1], keys[0])
            told(visitor.run(scroll)[axis] < start[axis], f"{name}: keys pan", visitor.run(scroll))
            visitor.press("+", "+")
            told(visitor.run(scroll)[axis + 2] > start[axis + 2] * 1.3, f"{name}: plus zooms", visitor.run(scroll))
            visitor.photograph(f"zooms {name}")
            visitor.press("Home")
            told(visitor.run(scroll) == start, f"{name}: Home goes back", visitor.run(scroll))
            x, y = visitor.place(".viewer > a")
            visitor.drag_path([(x, y), (x - 60, y - 60), (x - 120, y - 120)])
            told(visitor.run(scroll)[axis] == start[axis] + 120, f"{name}: the mouse pans", visitor.run(scroll))
            told(visitor.run("return location.pathname") == f"/{name}", f"{name}: the end of a drag follows no link")
            told(visitor.shift() == 0, f"{name}: nothing has shifted", visitor.shift())
            visitor.photograph(f"looks at {name}")
        visitor.open(f"{self.site.url}/maybe")
        visitor.click_on(".viewer button[value=s]")
        eventually("a strip of 2:1 becomes a sphere by its button", visitor.view)
        visitor.photograph("looks at a strip as a sphere")
        visitor.click_on(".viewer button[value=s]")
        told(
            visitor.run(
                "return !document.querySelector('canvas') && document.querySelector('.viewer > a').checkVisibility({"
                " visibilityProperty: true })"
            ),
            "and a strip again",
        )
        visitor.open(f"{self.site.url}/flat")
        visitor.focus(".viewer > a")
        visitor.press("+")
        visitor.photograph("zooms an ordinary photo")
        visitor.press("Home")
        visitor.press("f")
        eventually(
            "an ordinary photo fills the screen", lambda: visitor.run("return !!document.querySelector('.viewer.full')")
        )
        visitor.photograph("fills the screen with an ordinary photo")
        visitor.close()

    def phone(self):
        visitor = Visitor("cy", phone=True)
        self.open(visitor, "sphere")
        ratio = visitor.run("const c = document.querySelector('canvas'); return c.width / c.clientWidth")
        told(ratio == 2, "a phone's pixels are used", ratio)
        wide = visitor.run("return document.documentElement.scrollWidth - innerWidth")
        told(wide <= 0, "no page is wider than the phone", wide)
        visitor.photograph("looks at a sphere")
        visitor.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        visitor.photograph("looks at a sphere at night")
        visitor.open(f"{self.site.url}/strip")
        eventually(
            "a strip has pixels enough for its height",
            lambda: "4096" in visitor.run("return document.querySelector('.viewer img').currentSrc"),
        )
        time.sleep(0.5)
        visitor.photograph("looks at a strip")
        visitor.close()

    # Without

    def fallbacks(self):
        strip = (
            "const a = document.querySelector('.viewer > a'), i = a.firstElementChild;return a.checkVisibility({"
            " visibilityProperty: true }) && i.naturalWidth > 0 && a.scrollWidth > a.clientWidth"
        )
        visitor = Visitor("eva", switches=without_webgl)
        visitor.open(f"{self.site.url}/sphere")
        told(visitor.run("return document.createElement('canvas').getContext('webgl2') === null"), "there is no WebGL")
        eventually("without WebGL a sphere is a strip", lambda: visitor.run(strip))
        visitor.focus(".viewer > a")
        before = visitor.run("return document.querySelector('.viewer > a').scrollLeft")
        visitor.press("Right")
        told(visitor.run("return document.querySelector('.viewer > a').scrollLeft") > before, "keys pan it")
        told(visitor.shift() == 0, "nothing has shifted", visitor.shift())
        visitor.photograph("has no WebGL")
        visitor.close()

        visitor = Visitor("eva")
        self.open(visitor, "sphere")
        visitor.focus(".viewer canvas")
        visitor.run(
            "document.querySelector('canvas').getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
        )
        eventually("a sphere whose WebGL is taken away is a strip", lambda: visitor.run(strip))
        told(visitor.run("return document.activeElement.tagName") == "A", "the focus has gone with it")
        self.site.pictures["/photos/lost/2048.jpg"] = b"no picture"
        self.site.pages["/lost"] = self.site.pages["/sphere"].replace(
            'data-base="/photos/sphere/"', 'data-base="/photos/lost/"'
        )
        visitor.open(f"{self.site.url}/lost")
        time.sleep(0.5)
        told(
            visitor.run("return !document.querySelector('canvas')") and visitor.run(strip),
            "a sphere whose picture is damaged is the strip that the page brought",
        )
        visitor.close()

        visitor = Visitor("eva")
        visitor.command("Emulation.setScriptExecutionDisabled", value=True)
        visitor.open(f"{self.site.url}/sphere")
        time.sleep(1)
        visitor.photograph("has no scripts")
        visitor.command("Emulation.setScriptExecutionDisabled", value=False)
        told(
            visitor.run(strip) and visitor.run("return !document.querySelector('.viewer-tools')"),
            "without scripts a sphere is a strip",
        )
        visitor.close()


def edges(pixels):
    """How strong the edges in a picture are."""
    return numpy.abs(pixels[1:-1, 2:] - 2 * pixels[1:-1, 1:-1] + pixels[1:-1, :-2]).mean()


def smooth_sphere(width):
    """A sphere without any edge: waves that close around it."""
    height = width // 2
    longitude, latitude = numpy.meshgrid(
        (numpy.arange(width) + 0.5) / width * 2 * numpy.pi, (numpy.arange(height) + 0.5) / height * numpy.pi
    )
    waves = [numpy.sin(longitude + phase) * numpy.sin(latitude) for phase in (0.5, 2.5, 4.5)]
    return Image.fromarray((127 + 100 * numpy.stack(waves, axis=-1)).astype(numpy.uint8))
