#!/usr/bin/python3
"""Adds hundreds of photos by the page, over a network that is cut, on pages that are reloaded and closed.

Tests/Gallery/adding.py [--programs DIR] [--photos N] [--cuts N] [--reloads N] [--seed N]: photos in folders are
dropped on the gallery. At random moments the network is cut and away for a second, the page is reloaded, another one
is opened, the tab is closed, and the browser is quit and started again. In the end all photos are there once, with
their bytes, the dates as taken and the times of the files, and at most 1.1 times their bytes were sent. Then what
stops a queue: other pages, another member, a session that ended, a full club, a file that is gone. Needs chromium,
chromium-driver and python3-pil, and root. Exits 1 at the first thing that is not as it must be.
"""

import argparse
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import socket
import struct
import sys
import threading
import time
import urllib.parse
import urllib.request

if __name__ == "__main__":
    folders = pathlib.Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(folders / "FirstDay"), str(folders / "Gallery")]
    sys.dont_write_bytecode = True

from PIL import Image
from server import Server, password
from steps import Failed, eventually, told
from visitor import Visitor

# What leaving the page would lose, by the page's own question.
asks = "return !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))"
panel = "return document.querySelector('.adding')?.innerText ?? ''"


class Line:
    """The network before a server, which counts the bytes towards it and can be cut."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.server = address.hostname, address.port
        self.sent, self.cuts, self.rate = 0, [], 0
        self.away_until = 0.0
        self.lock = threading.Lock()
        self.open = set()
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.door.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            if time.monotonic() < self.away_until:
                self.reset(client)
                continue
            try:
                server = socket.create_connection(self.server)
            except OSError:
                self.reset(client)
                continue
            with self.lock:
                self.open |= {client, server}
            for pair in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, target, counts):
        try:
            while data := source.recv(32 << 10):
                target.sendall(data)
                if counts:
                    self.count(len(data))
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def count(self, length):
        with self.lock:
            self.sent += length
            is_cut = bool(self.cuts) and self.sent >= self.cuts[0]
            if is_cut:
                del self.cuts[0]
        if is_cut:
            self.cut(1)
        elif self.rate:
            time.sleep(length / self.rate)

    def cut(self, seconds):
        """Breaks all connections, and takes no other one for so long."""
        self.away_until = time.monotonic() + seconds
        with self.lock:
            broken, self.open = self.open, set()
        for connection in broken:
            self.reset(connection)

    @staticmethod
    def reset(connection):
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()

    def close(self):
        self.door.close()
        self.cut(0)


class Photos:
    """Photos in a folder with folders, each with bytes, a date and a time of its own."""

    def __init__(self, folder, count, seed):
        chance = random.Random(seed)
        self.folder = folder
        # By the path in the club: the hash, the date in its EXIF, the time of the file.
        self.all = {}
        self.bytes = 0
        for number in range(count):
            album = ("", "2019 Dolomites", "2019 Dolomites/Second day", "2024 Camargue")[number % 4]
            taken = time.gmtime(1_400_000_000 + number * 86_413)
            changed = 1_500_000_000 + number * 7_919
            path = pathlib.PurePosixPath("Pictures", album, f"IMG_{number // 4:04}.jpg")
            long = number % 7 == 3
            length = chance.randint(4_300_000, 6_800_000) if long else chance.randint(60_000, 1_600_000)
            content = self.photo(chance, taken, length)
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            os.utime(file, (changed, changed))
            date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", taken)
            self.all[str(path)] = (hashlib.sha256(content).hexdigest(), date, changed)
            self.bytes += len(content)

    @staticmethod
    def photo(chance, taken, length):
        image = Image.new("RGB", (640, 480), tuple(chance.randrange(256) for _ in range(3)))
        exif = Image.Exif()
        exif[0x8769] = {0x9003: time.strftime("%Y:%m:%d %H:%M:%S", taken)}
        data = io.BytesIO()
        image.save(data, "JPEG", exif=exif)
        # Bytes after the end of a JPEG are part of the file.
        return data.getvalue() + chance.randbytes(length)


class Adding:
    """A member who adds photos by the page."""

    def __init__(self, programs, photos=300, cuts=30, reloads=10, seed=1, options=()):
        self.count, self.cuts, self.reloads, self.seed = photos, cuts, reloads, seed
        self.chance = random.Random(seed)
        self.server = Server(programs, *options)
        self.line = Line(self.server.url)
        self.ada, self.bo = self.server.member("ada"), self.server.member("bo")

    def close(self):
        self.line.close()
        self.server.close()

    def check(self):
        self.survives()
        self.stops()

    # What a member does

    def browser(self, member):
        """The member's browser, with what it kept when it was closed."""
        profile = self.server.work / f"profile of {member.name}"
        switches = "disable-gpu", "disable-renderer-backgrounding", f"user-data-dir={profile}"
        visitor = Visitor(member.name, switches=switches)
        visitor.open(self.line.url + "/albums")
        if self.is_signed_out(visitor):
            self.sign_in(visitor, member.name)
        return visitor

    def sign_in(self, visitor, name):
        visitor.fill("Name", name)
        visitor.fill("Password", password)
        visitor.click("Sign in")
        eventually(f"{name} is signed in", lambda: not self.is_signed_out(visitor), visitor.text)

    @staticmethod
    def is_signed_out(visitor):
        """Asks the browser and not the page, which may be on its way to another one."""
        return "/login" in visitor.call("GET", "/url")

    @staticmethod
    def drop(visitor, *files):
        """Drops files and folders of the disk on the page."""
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            visitor.command("Input.dispatchDragEvent", type=kind, x=400, y=400, data=data)

    @staticmethod
    def settled(visitor):
        """Waits until leaving would lose nothing, as a member does who is asked."""
        began = time.monotonic()
        while visitor.run(asks):
            if time.monotonic() - began > 120:
                raise Failed("leaving goes on to ask")
            time.sleep(0.1)
        return time.monotonic() - began

    def again(self, visitor, kind):
        """Leaves the page, in one of four ways, and returns the browser in which the member goes on."""
        if kind == "reloads the page":
            visitor.call("POST", "/refresh", {})
        elif kind == "goes to another page":
            visitor.call("POST", "/url", {"url": self.line.url + self.chance.choice(["/gallery", "/notes", "/albums"])})
        elif kind == "closes the tab":
            old = visitor.call("GET", "/window")
            new = visitor.call("POST", "/window/new", {"type": "tab"})["handle"]
            visitor.call("POST", "/window", {"handle": old})
            visitor.call("DELETE", "/window")
            visitor.call("POST", "/window", {"handle": new})
            visitor.call("POST", "/url", {"url": self.line.url + "/gallery"})
        else:
            visitor.close()
            visitor = self.browser(self.ada)
        return visitor

    # All photos, whatever happens

    def survives(self):
        photos = Photos(self.ada.home, self.count, self.seed)
        visitor = self.browser(self.ada)
        visitor.open(self.line.url + "/gallery")
        start, began = self.line.sent, time.monotonic()
        points = sorted(self.chance.randrange(photos.bytes * 98 // 100) for _ in range(self.cuts + self.reloads))
        left = set(self.chance.sample(range(len(points)), self.reloads))
        leaves = [start + point for number, point in enumerate(points) if number in left]
        self.line.cuts = [start + point for number, point in enumerate(points) if number not in left]
        # Two minutes for all of it, so that it is not over at once.
        self.line.rate = photos.bytes / 120
        self.drop(visitor, *sorted((self.ada.home / "Pictures").iterdir()))
        eventually("the panel is there", lambda: visitor.run(panel), visitor.text)
        waited = self.settled(visitor)
        told(True, f"after {waited:.1f} s leaving the page loses none of {photos.bytes / 1e6:.0f} MB")
        ways = ["reloads the page", "goes to another page", "closes the tab", "quits the browser"]
        while leaves or not self.is_over(visitor):
            if time.monotonic() - began > 3600:
                raise Failed(f"it does not end: {visitor.run(panel)}")
            if leaves and self.line.sent >= leaves[0]:
                del leaves[0]
                way = ways[len(leaves) % 4]
                before = visitor.run(panel).split("\n")[0]
                self.settled(visitor)
                visitor = self.again(visitor, way)
                told(True, f"at '{before}' ada {way}")
            time.sleep(0.05)
        took, sent = time.monotonic() - began, self.line.sent - start
        told(not self.line.cuts, "the network was cut each time", self.line.cuts)
        eventually("the panel goes when all is done", lambda: not visitor.run(panel), lambda: visitor.run(panel))
        told(self.kept(visitor) == 0, "the browser keeps nothing of it", self.kept(visitor))
        self.compare(photos)
        share = sent / photos.bytes
        told(
            share <= 1.1,
            f"{self.count} photos, {photos.bytes / 1e6:.0f} MB, {self.cuts} cuts, {self.reloads} times left:"
            f" each byte sent {share:.3f} times, in {took:.0f} s",
        )
        visitor.close()

    def is_over(self, visitor):
        return visitor.run("return !localStorage.getItem(`uploads ${document.body.dataset.member}`)")

    @staticmethod
    def kept(visitor):
        """How many files and jobs the browser keeps for the member."""
        return visitor.run("""
            const db = await new Promise(done => {
              const request = indexedDB.open(`uploads ${document.body.dataset.member}`);
              request.onsuccess = () => done(request.result); });
            let sum = 0;
            for (const store of db.objectStoreNames) sum += await new Promise(done => {
              const request = db.transaction(store).objectStore(store).count();
              request.onsuccess = () => done(request.result); });
            db.close();
            return sum;""")

    def entries(self):
        """The photos of the club by path, with what the server tells of them."""
        found, waiting = {}, ["byteclub/photos"]
        while waiting:
            path = urllib.parse.quote(waiting.pop())
            answer = self.ask(f"/1/metadata/dropbox/{path}?include_media_info=true&file_limit=10000")
            for entry in json.loads(answer)["contents"]:
                path = entry["path"].removeprefix("/")
                if entry["is_dir"]:
                    waiting.append(path)
                else:
                    found[path.removeprefix("byteclub/photos/")] = entry
        return found

    def ask(self, path):
        request = urllib.request.Request(self.server.url + path, None, {"Authorization": f"Bearer {self.ada.token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def compare(self, photos):
        """All photos are there once, with bytes, dates and times."""
        wanted = {path.removeprefix("Pictures/"): what for path, what in photos.all.items()}
        found = self.entries()
        told(
            found.keys() == wanted.keys(), f"all {len(wanted)} photos are there once, in their albums",
            sorted(found.keys() ^ wanted.keys())[:10],
        )
        off = {"bytes": [], "dates": [], "times": []}
        for path, (digest, date, changed) in wanted.items():
            content = self.ask("/1/files/dropbox/byteclub/photos/" + urllib.parse.quote(path))
            if hashlib.sha256(content).hexdigest() != digest:
                off["bytes"].append(path)
            entry = found[path]
            if (entry.get("photo_info") or {}).get("time_taken") != date:
                off["dates"].append((path, date, entry))
            if entry["client_mtime"] != time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(changed)):
                off["times"].append((path, changed, entry))
        told(not off["bytes"], "with their bytes", off["bytes"][:3])
        told(not off["dates"], "with the dates as taken", off["dates"][:3])
        told(not off["times"], "with the times of the files", off["times"][:3])

    # What stops a queue, and what does not

    def stops(self):
        self.line.rate = 400 << 10
        self.pages()
        self.members()
        self.signs_out()
        self.vanished()
        self.full()

    def some(self, name, count, length=300_000):
        """Photos in a folder of that name."""
        folder = self.ada.home / name
        folder.mkdir()
        for number in range(count):
            content = Photos.photo(self.chance, time.gmtime(1_600_000_000 + number), length)
            (folder / f"{number}.jpg").write_bytes(content)
        return folder

    def stored(self, album):
        return sorted(path for path in self.entries() if path.startswith(album + "/"))

    def ends(self, visitor, album, count):
        eventually(f"{album} is added", lambda: self.is_over(visitor), lambda: visitor.run(panel), 300)
        wanted = sorted(f"{album}/{number}.jpg" for number in range(count))
        told(self.stored(album) == wanted, f"all {count} of {album} are there once", self.stored(album))

    def pages(self):
        """Two pages of one browser: one sends, both show, and the other goes on when the first is closed."""
        visitor = self.browser(self.ada)
        start = self.line.sent
        first, second = self.some("two pages", 10), self.some("from the other", 5)
        self.drop(visitor, first)
        eventually("the first page adds", lambda: "of 10" in visitor.run(panel), visitor.text)
        old = visitor.call("GET", "/window")
        new = visitor.call("POST", "/window/new", {"type": "tab"})["handle"]
        visitor.call("POST", "/window", {"handle": new})
        visitor.open(self.line.url + "/notes")
        eventually("the second page shows it too", lambda: "of 10" in visitor.run(panel), visitor.text)
        self.drop(visitor, second)
        eventually("what is dropped there comes to the same queue", lambda: "of 15" in visitor.run(panel), visitor.text)
        self.settled(visitor)
        visitor.call("POST", "/window", {"handle": old})
        eventually("the first page shows that", lambda: "of 15" in visitor.run(panel), visitor.text)
        self.settled(visitor)
        visitor.call("DELETE", "/window")
        visitor.call("POST", "/window", {"handle": new})
        self.ends(visitor, "two pages", 10)
        self.ends(visitor, "from the other", 5)
        share = (self.line.sent - start) / (15 * 300_000)
        told(share <= 1.1, f"two pages send each byte {share:.3f} times")
        visitor.close()

    def members(self):
        """A queue waits for its member, and is nobody else's."""
        visitor = self.browser(self.ada)
        self.drop(visitor, self.some("waits", 10))
        eventually("ada adds", lambda: "of 10" in visitor.run(panel), visitor.text)
        self.settled(visitor)
        visitor.command("Network.clearBrowserCookies")
        eventually("the page says that she is signed out", lambda: "signed out" in visitor.run(panel), visitor.text)
        told(not visitor.run(asks), "and leaving it loses nothing")
        visitor.click("Sign in")
        eventually("there she can sign in", lambda: self.is_signed_out(visitor), visitor.text)
        before = self.stored("waits")
        self.sign_in(visitor, "bo")
        visitor.open(self.line.url + "/add")
        time.sleep(3)
        told(not visitor.run(panel), "bo, in the same browser, sees nothing of it", visitor.text())
        told(self.stored("waits") == before, "and sends nothing of it")
        visitor.command("Network.clearBrowserCookies")
        visitor.open(self.line.url + "/albums")
        self.sign_in(visitor, "ada")
        self.ends(visitor, "waits", 10)
        visitor.close()

    def signs_out(self):
        """Who signs out is asked, and then nothing is kept."""
        visitor = self.browser(self.ada)
        self.drop(visitor, self.some("signs out", 10))
        eventually("ada adds again", lambda: "of 10" in visitor.run(panel), visitor.text)
        self.settled(visitor)
        told(self.kept(visitor) > 10, "the browser keeps jobs and files", self.kept(visitor))
        member = visitor.run("return document.body.dataset.member")
        visitor.run("document.querySelector('form[action=\"/logout\"] button').click()")
        question = eventually("signing out asks", lambda: self.question(visitor), visitor.text)
        told("not added" in question, "in words", question)
        visitor.call("POST", "/alert/accept", {})
        eventually("she is signed out", lambda: self.is_signed_out(visitor), visitor.text)
        visitor.run("document.body.dataset.member = args[0]", member)
        told(self.kept(visitor) == 0, "and the browser keeps nothing", self.kept(visitor))
        visitor.close()

    @staticmethod
    def question(visitor):
        try:
            return visitor.call("GET", "/alert/text")
        except Failed:
            return ""

    def vanished(self):
        """A file that the browser could not keep and that goes is told of by its name, and the others are added."""
        visitor = self.browser(self.ada)
        folder = self.some("vanishes", 6)
        visitor.run("""
            IDBObjectStore.prototype.put = new Proxy(IDBObjectStore.prototype.put, { apply(put, store, given) {
              if (store.name === "files") throw new Error("no room");
              return put.apply(store, given); } });""")
        self.drop(visitor, folder)
        eventually("ada adds what is not kept", lambda: "of 6" in visitor.run(panel), visitor.text)
        told(visitor.run(asks), "leaving would lose it, and asks")
        (folder / "4.jpg").unlink()
        (folder / "5.jpg").write_bytes(b"something else")
        eventually("the others are added", lambda: "Added 4 of 6" in visitor.run(panel), lambda: visitor.run(panel))
        text = visitor.run(panel)
        told("4.jpg has changed or is gone" in text and "5.jpg has changed or is gone" in text, "by name", text)
        told(len(self.stored("vanishes")) == 4, "four of six are there", self.stored("vanishes"))
        visitor.photograph("is told what is gone")
        visitor.click_on(".adding [aria-label=Close]")
        eventually("the panel closes", lambda: not visitor.run(panel), lambda: visitor.run(panel))
        visitor.close()

    def full(self):
        """A full club stops at the first file, with one line."""
        other = Adding(self.server.programs, options=["--member-quota", "2000000"])
        try:
            visitor = other.browser(other.ada)
            self.drop(visitor, self.some("full", 12))
            eventually("the page says that it is full", lambda: "Try again" in visitor.run(panel), visitor.text)
            text = visitor.run(panel)
            told("of 12" in text and ".jpg" not in text, "in one line", text)
            told(0 < len(other.stored("full")) < 12, "what had room is there", other.stored("full"))
            sent = other.line.sent
            time.sleep(3)
            told(other.line.sent - sent < 50_000, "and nothing more is sent", other.line.sent - sent)
            visitor.photograph("is told that the club is full")
            visitor.close()
        finally:
            other.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    project = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--programs", metavar="DIR", type=pathlib.Path, default=project / ".build/release")
    for name, value in (("photos", 300), ("cuts", 30), ("reloads", 10), ("seed", 1)):
        parser.add_argument(f"--{name}", metavar="N", type=int, default=value)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("adding: must be run as root: Chromium runs without its sandbox here")
    if not shutil.which("chromedriver"):
        sys.exit("adding: chromedriver is missing; apt install chromium chromium-driver")
    Visitor.port = 9526
    driver = Visitor.start_driver()
    adding = None
    try:
        adding = Adding(arguments.programs, arguments.photos, arguments.cuts, arguments.reloads, arguments.seed)
        adding.check()
    except Failed as failure:
        print(f"adding: {failure}", file=sys.stderr)
        sys.exit(1)
    finally:
        try:
            Visitor.close_all()
        finally:
            if adding:
                adding.close()
            driver.terminate()
            driver.wait()
    print("all is as it must be")


if __name__ == "__main__":
    main()
