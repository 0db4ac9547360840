"""Links: photos, folders and stories; passwords and dead links; and that a story opens nothing but what it names."""

import html
import http.client
import io
import re
import urllib.error
import urllib.parse
import urllib.request
import zipfile

from club import Club, items, pictures
from PIL import Image
from steps import eventually, told

named = ("courtyard", "forest", "partial", "phone-strip", "portrait", "sunrise")
story = "# A day outside\n\nWe left early.\n\n" + "\n\n".join(
    f"![{name}](../photos/{name}.jpg)\n\nThen we went on." for name in named
)


class Share(Club):
    steps = ("photo", "folder", "text", "locked", "revoked", "cards", "story", "nothing_else")

    def found(self):
        super().found()
        self.ada.put("Trip/a day.md", story.encode())

    def guest(self, link, **options):
        guest = self.visitor(**options)
        guest.open(link)
        return guest

    def photo(self):
        link = self.link("photos/forest.jpg")
        guest = self.guest(link)
        self.drawn(guest, "the shared sphere")
        guest.focus(".viewer canvas")
        guest.press("Right")
        told(guest.settled()["yaw"] == 5, "keys turn it", guest.view())
        text = guest.text()
        told("Shared by ada" in text, "who gave it is told", text)
        told("Left at the crossing" not in text, "its caption is a file of its own, which was not given", text)
        guest.photograph("has a link to a sphere")
        told("/gallery" not in guest.run("return [...document.links].map(a => a.href).join()"), "no link leads inside")
        self.honest(guest, "a shared photo")
        guest.press_button("a[href*='dl=1']:not(figure a)")
        eventually("it can be downloaded", lambda: list(guest.downloads.glob("*.jpg")))
        guest.close()
        dated = urllib.request.urlopen(self.link("photos/dated.jpg") + "?dl=1").read()
        place = Image.open(io.BytesIO(dated)).getexif().get_ifd(0x8825)
        told(not place and b"GPSL" not in dated, "what a guest downloads does not tell where it was taken", place)
        phone = self.guest(link, phone=True)
        self.drawn(phone, "the shared sphere")
        self.fits(phone, "a shared photo on a phone")
        phone.photograph("has a link to a sphere on a phone")
        phone.close()

    def folder(self):
        """An album: its photos, one after the other by keys, and all in one file."""
        guest = self.guest(self.link("photos"))
        eventually("a shared folder shows its photos", lambda: guest.run(pictures) >= 4, guest.text)
        guest.photograph("has a link to a folder")
        self.fits(guest, "a shared folder")
        self.honest(guest, "a shared folder")
        guest.press_button(".photos a")
        guest.see("a photo of it opens", "return !!document.querySelector('.viewer')")
        first = guest.address()
        guest.run("document.activeElement.blur()")
        guest.press("Right")
        guest.see(
            "an arrow leads to the next", "return decodeURI(location.pathname + location.search) !== args[0]", first
        )
        guest.run("document.activeElement.blur()")
        guest.press("Escape")
        guest.see("Escape leads back to all", "return !!document.querySelector('.photos li')")
        guest.press_button("a[href*='zip'], a[href*='dl=1']")
        eventually(
            "all come in one file", lambda: list(guest.downloads.glob("*.zip")), lambda: list(guest.downloads.iterdir())
        )
        eventually("which is whole", lambda: self.whole(guest), lambda: list(guest.downloads.iterdir()))
        guest.close()

    @staticmethod
    def whole(guest):
        """Whether the downloaded zip has the photos and no place."""
        for file in guest.downloads.glob("*.zip"):
            try:
                with zipfile.ZipFile(file) as archive:
                    names = archive.namelist()
                    return archive.testzip() is None and sum(name.endswith(".jpg") for name in names) >= 8 and names
            except zipfile.BadZipFile:
                return None
        return None

    def text(self):
        guest = self.guest(self.link("gear.md"))
        told(guest.has(".text p") and "A rope, a tripod" in guest.text(), "a shared note is set as text", guest.text())
        guest.photograph("has a link to a note")
        self.honest(guest, "a shared note")
        guest.close()

    def locked(self):
        """A link with a password shows nothing before that is told."""
        guest = self.guest(self.ada.share("photos/partial.jpg", password="seven geese"))
        nothing = "return !document.querySelector('.viewer') && !/partial/.test(document.documentElement.outerHTML)"
        told(guest.run(nothing), "a link with a password tells nothing", guest.text())
        guest.photograph("is asked for a password")
        guest.fill("Password", "six geese")
        guest.click("Open")
        eventually("a wrong password is told to be wrong", lambda: "wrong" in guest.text().lower(), guest.text)
        told(guest.run(nothing), "and opens nothing", guest.text())
        guest.fill("Password", "seven geese")
        guest.click("Open")
        eventually("the right password opens it", lambda: not guest.run(nothing), guest.text)
        self.drawn(guest, "what is behind the password")
        self.honest(guest, "a page behind a password", shifts=False, refusals=("403", "401"))
        guest.close()

    def revoked(self):
        link = self.link("photos/Dolomites/interior.jpg")
        self.ada.run("share", "--revoke", "photos/Dolomites/interior.jpg")
        guest = self.guest(link)
        told(not guest.run("return !!document.querySelector('.viewer')"), "a link that was taken back leads nowhere")
        told(len(guest.text()) > 40 and guest.has("h1"), "and its page says so", guest.text())
        guest.photograph("has a link that was taken back")
        guest.close()
        told(status(link) in (404, 410), "with the right status", status(link))

    def cards(self):
        """What a messenger shows of a link."""
        page = urllib.request.urlopen(self.link("photos/forest.jpg")).read().decode()
        tags = dict(re.findall(r'<meta property="(og:[a-z:]+)" content="([^"]*)"', page))
        told({"og:title", "og:description", "og:image", "og:url"} <= set(tags), "a link has a card", tags)
        image = urllib.request.urlopen(html.unescape(tags["og:image"])).read()
        size = Image.open(io.BytesIO(image)).size
        told(size == (int(tags["og:image:width"]), int(tags["og:image:height"])), f"with a picture of {size}", tags)

    def story(self):
        """A note with photos is an album with text between them."""
        guest = self.guest(self.link("Trip/a day.md"))
        told(guest.reads("h1") == "A day outside", "its heading is the page's", guest.reads("h1"))
        guest.run("""
            for (let y = 0; y < document.body.scrollHeight; y += 300) {
              scrollTo(0, y);
              await new Promise(done => setTimeout(done, 60));
            }""")
        eventually(f"its {len(named)} photos are there", lambda: guest.run(pictures) >= len(named), guest.text)
        guest.photograph("reads a story")
        self.fits(guest, "a story")
        self.honest(guest, "a story", shifts=False)
        guest.close()

    def nothing_else(self):
        """The story's token against every address of everything else: photos, pictures of every size, notes, pages."""
        link = self.link("Trip/a day.md")
        token = urllib.parse.urlsplit(link).path.removeprefix("/s/").split("/")[0]
        page = urllib.request.urlopen(link).read().decode()
        own = {html.unescape(each) for each in re.findall(r'(?:src|href)="(/s/[^"]*|\?[^"]*)"', page)}
        told(len(own) >= len(named), f"its page has {len(own)} addresses of its own", own)
        for address in own:
            seen = status(urllib.parse.urljoin(link, address))
            told(seen == 200, f"{address[:60]} opens", seen)
        pictures_of = self.hashes()
        others = {
            path: hash for path, hash in pictures_of.items() if not any(path.endswith(f"/{n}.jpg") for n in named)
        }
        told(len(others) >= 4, f"{len(others)} photos are not in it", pictures_of)
        base = f"{self.server.url}/s/{token}"
        places = [
            "",
            "/photos",
            "/byteclub",
            "/byteclub/photos",
            "/..",
            "/../photos",
            "/..%2fphotos",
            "/%2e%2e/photos",
            "/Trip",
        ]
        tried = []
        for path, hash in others.items():
            name = urllib.parse.quote(path.rsplit("/", 1)[-1])
            inside = urllib.parse.quote(path.removeprefix("/byteclub"))
            tried += [base + place + "/" + name for place in places] + [base + inside, base + "/byteclub" + inside]
            for size in ("256", "512", "1024", "2048", "4096", "original"):
                tried += [
                    f"{base}/photos/{hash}/{size}.jpg",
                    f"{base}/{hash}/{size}.jpg",
                    f"{base}/p/{hash}/{size}.jpg",
                    f"{self.server.url}/photos/{hash}/{size}.jpg",
                ]
                tried += [f"{base}?photo={urllib.parse.quote(path)}&size={size}", f"{base}/{name}/{size}.jpg"]
            tried += [f"{base}/photos/{hash}/tiles/0-0.jpg", f"{self.server.url}/photos/{hash}/tiles/0-0.jpg"]
            # The addresses of its own, with another photo's name or content in the place of the named one's.
            for address in own:
                for first in named:
                    if first in address:
                        tried.append(urllib.parse.urljoin(link, address.replace(first, name.removesuffix(".jpg"))))
                for known in pictures_of.values():
                    if known and known in address:
                        tried.append(urllib.parse.urljoin(link, address.replace(known, hash)))
        for note in ("gear.md", "Trip/plan.md", "photos/forest.jpg.md", "Trip"):
            tried += [base + place + "/" + urllib.parse.quote(note) for place in places]
            tried += [self.server.url + items + urllib.parse.quote(note)]
        tried += [
            self.server.url + path
            for path in (
                "/",
                "/gallery",
                "/gallery/index",
                "/gallery/items",
                "/gallery/events",
                "/albums",
                "/notes",
                "/notes/new",
                "/account",
                "/members",
                "/activity",
                "/add",
                "/1/metadata/auto/byteclub",
                "/1/account/info",
                "/1/files/auto/byteclub/gear.md",
                "/1/sync/changes",
                "/1/thumbnails/auto/byteclub/photos/city.jpg",
            )
        ]
        opened = []
        landing = urllib.request.urlopen(link).read()
        for url in sorted(set(tried)):
            seen, body = answer(url, token)
            # The last word of a link's address is for people alone: with any other it is the story still.
            word = urllib.parse.urlsplit(url).path.rpartition("/")[2].encode()
            if seen == 200 and body not in (landing, landing.replace(b"a%20day.md", word)):
                opened.append((url.removeprefix(self.server.url), len(body)))
        told(not opened, f"{len(set(tried))} other addresses are shut to its token", "\n".join(map(str, opened[:20])))

    def hashes(self):
        """The contents of all photos, by path."""
        visitor = self.visitor(self.ada)
        self.page(visitor, "/gallery")
        found = visitor.run("""
            const answer = await fetch("/gallery/items?limit=50", { headers: { Accept: "application/json" } });
            return (await answer.json()).items.map(item => [decodeURIComponent(item.url), item.hash ?? null]);""")
        visitor.close()
        return {path.removeprefix("/gallery"): hash for path, hash in found if hash}


def answer(url, token):
    """The status and body of a page for somebody who has nothing but a token; redirects are not followed."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    headers = {"Authorization": f"Bearer {token}", "Cookie": f"session={token}"}
    connection.request("GET", path or "/", headers={} if "/events" in path else headers)
    response = connection.getresponse()
    body = response.read() if response.status == 200 else b""
    connection.close()
    return response.status, body


def status(url):
    try:
        return urllib.request.urlopen(url).status
    except urllib.error.HTTPError as error:
        return error.code
