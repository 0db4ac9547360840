"""What a club's pages look like, for people who have no club yet: pictures in Fixtures/screens."""

import io

from club import Club, fixtures, items
from PIL import Image
from server import Server
from static import project
from steps import eventually, told
from visitor import decoded

folder = project / "Fixtures/screens"

captions = {
    "courtyard": "Where we met, before anybody was late",
    "forest": "Left at the crossing, and into the old part of the forest",
    "sunrise": "Six in the morning; the coffee was **warm**",
    "sunset": "The way back",
}


class Screens(Club):
    """A club whose photos are this repository's own, so that its pages may be shown to everybody."""

    def found(self):
        self.ada = self.server.member("ada")
        self.ada.run("photos", "upload", *(fixtures / f"{name}.jpg" for name in [*captions, "city", "phone-strip"]))
        for name, text in captions.items():
            self.ada.write(f"photos/{name}.jpg.md", text + "\n")
        note = project / "Fixtures/notes/2026-06-21 Sunrise on the Hohes Venn.md"
        self.ada.run("notes", "add", note.name, note)

    def take(self):
        """Takes all pictures anew."""
        folder.mkdir(exist_ok=True)
        link = self.link("photos/sunset.jpg")
        visitor = self.visitor(self.ada)
        visitor.command("Emulation.setDeviceMetricsOverride", width=1000, height=1000, deviceScaleFactor=1, mobile=False)
        eventually("the server has looked at the photos", lambda: self.rendered(visitor), visitor.text)
        self.keep(visitor, "gallery")
        self.page(visitor, items + "photos/forest.jpg")
        self.drawn(visitor, "a sphere")
        visitor.look(40, 10, 80)
        self.keep(visitor, "viewer")
        self.page(visitor, items + "2026-06-21%20Sunrise%20on%20the%20Hohes%20Venn.md")
        self.keep(visitor, "note")
        visitor.close()
        visitor = self.visitor(self.ada, phone=True)
        self.dark(visitor)
        self.page(visitor, "/gallery")
        eventually("the phone has pictures", lambda: visitor.run(pictures) >= 2, visitor.text)
        self.keep(visitor, "phone")
        visitor.close()
        visitor = self.visitor()
        visitor.open(link)
        self.drawn(visitor, "a link's sphere")
        self.keep(visitor, "link")
        visitor.close()

    def rendered(self, visitor):
        """Whether each panorama is shown at its own shape, which takes the server a moment after an upload."""
        self.page(visitor, "/gallery")
        return visitor.run(pictures) >= 2 and visitor.run(
            "const box = document.querySelector(\"a[href$='/photos/forest.jpg'] img\").getBoundingClientRect();"
            "return box.width > 1.8 * box.height"
        )

    @staticmethod
    def keep(visitor, name):
        picture = decoded(visitor.call("GET", "/screenshot"))
        picture.thumbnail((1280, 1280), Image.Resampling.LANCZOS)
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=80, optimize=True, progressive=True)
        told(len(data.getvalue()) < 200 << 10, f"{name}.jpg is {len(data.getvalue()) >> 10} KiB")
        (folder / f"{name}.jpg").write_bytes(data.getvalue())


pictures = "return [...document.images].filter(image => image.complete && image.naturalWidth > 0).length"
