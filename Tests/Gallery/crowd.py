#!/usr/bin/python3
"""How fast the gallery of a large club is, in Debian's Chromium and on the server.

Tests/Gallery/crowd.py [--programs DIR] [--club DIR] [--only NAME]...: makes a club of 10,000 photos and 1,000 notes, in
DIR if it is to be used again, measures it, and prints each value with its bound. NAME is server, old, desk, phone, scrolling,
swiping, still or crowd. Needs chromium, chromium-driver, python3-numpy and python3-pil, and root. Exits 1 when a bound is
not met. For figures that can be compared nothing else may run; what the machine's load was is in the first line.
"""

import argparse
import contextlib
import datetime
import functools
import http.client
import io
import json
import os
import pathlib
import queue
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

project = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(project / "Tests/FirstDay"), str(project / "Tests/Gallery")]
sys.dont_write_bytecode = True

import steps  # noqa: E402
from PIL import Image  # noqa: E402
from server import password  # noqa: E402
from steps import eventually, told  # noqa: E402
from browser import Browser  # noqa: E402
from visitor import Visitor, notebook, with_webgl  # noqa: E402

photos, notes, bases = 10_000, 1_000, 240
album = "Summer by the sea"
in_album = 5_000
galleries = 50
members = 10
ticks = os.sysconf("SC_CLK_TCK")


class Crowd:
    """A large club, its server, and what was measured there."""

    def __init__(self, programs, folder):
        self.programs, self.keeps = programs, folder is not None
        self.work = folder or pathlib.Path(tempfile.mkdtemp(prefix="byteclub-crowd-"))
        self.work.mkdir(parents=True, exist_ok=True)
        self.rows = []
        self.log = open(self.work / "log", "w")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.programs / "byteclub-server", "--data", self.work / "data", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        line = self.process.stdout.readline()
        told("listening on" in line, "the server listens", line)
        self.url = line.split()[-1]
        # Where browsers look; another one than the server's where somebody tries pages in between.
        self.pages = self.url

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
        if not self.keeps:
            shutil.rmtree(self.work)

    # The club

    def found(self):
        """Makes members, photos and notes, unless they are there."""
        self.names = [f"member{number}" for number in range(members)]
        mark = self.work / "token"
        if not mark.exists():
            token = [self.add(name) for name in self.names][0]
            began = time.monotonic()
            self.put_all(token, self.files())
            told(True, f"{photos} photos and {notes} notes are sent", began=began)
            mark.write_text(token)
        self.token = mark.read_text()
        self.cookies = [self.sign_in(name) for name in self.names]
        eventually("the server has looked at all", self.is_ready, seconds=3600)

    def add(self, name):
        server, data = self.programs / "byteclub-server", str(self.work / "data")
        printed = subprocess.run([server, "members", "add", name, "--data", data], capture_output=True, text=True)
        told(printed.returncode == 0, f"{name} is a member", printed.stderr)
        subprocess.run(
            [server, "members", "password", name, "--data", data],
            input=password + "\n", capture_output=True, text=True, check=True,
        )
        return printed.stdout.split()[-1]

    def files(self):
        """Paths, contents and times: no two photos are the same, and a day has between one and a hundred."""
        chance = random.Random(33)
        pictures, widest = self.pictures(chance), 0
        day, left, folder = datetime.datetime(2026, 11, 20), 0, ""
        for number in range(photos):
            if left == 0:
                day -= datetime.timedelta(days=chance.choice([1, 1, 1, 2, 3, 5, 12]))
                left = chance.choice([1, 1, 2, 3, 5, 8, 13, 21, 34, 100])
                folder = chance.choice(["", "", "Evenings/", "Hut tours/", "Old/Prints/"])
            left -= 1
            taken = day + datetime.timedelta(seconds=60_000 - 13 * left)
            picture = chance.choice(pictures).replace(b"2000:01:01 00:00:00", taken.strftime("%Y:%m:%d %H:%M:%S").encode())
            folder = album + "/" if number % 2 else folder
            yield f"photos/{folder}IMG_{number:05}.jpg", picture + number.to_bytes(4, "big"), taken
            folder = "" if folder == album + "/" else folder
        words = "ridge hut soup lantern meadow ferry tripod compass thunder cheese".split()
        for number in range(notes):
            text = " ".join(chance.choice(words) for _ in range(chance.choice([20, 200, 600])))
            date = datetime.datetime(2026, 11, 20) - datetime.timedelta(hours=37 * number)
            title = f"{chance.choice(words)} {chance.choice(words)}"
            yield f"{chance.choice(['', 'Tours/', 'Minutes/'])}{title} {number}.md", f"# {title}\n\n{text}\n".encode(), date

    @staticmethod
    def pictures(chance):
        """Some photos: parts of the repository's own, of the shapes and weights that phones' thumbnails have."""
        sources = []
        for name in ("city", "courtyard", "forest", "interior", "night", "studio", "sunrise", "sunset"):
            sources.append(Image.open(project / f"Fixtures/panoramas/{name}.jpg").convert("RGB"))
        made = []
        for number in range(bases):
            source = sources[number % len(sources)]
            width, height = chance.choice([(900, 600)] * 5 + [(600, 900)] * 3 + [(900, 675)] * 5 + [(1800, 600)])
            side = chance.uniform(0.4, 0.9) * source.height
            wide = min(source.width, side * width / height)
            side = wide * height / width
            x, y = chance.uniform(0, source.width - wide), chance.uniform(0, source.height - side)
            picture = source.resize((width, height), Image.Resampling.BICUBIC, (x, y, x + wide, y + side))
            details = Image.Exif()
            details[0x9003] = details[0x0132] = "2000:01:01 00:00:00"
            data = io.BytesIO()
            picture.save(data, "JPEG", quality=80, exif=details)
            made.append(data.getvalue())
        return made

    def put_all(self, token, files):
        """Sends files over a few connections."""
        waiting, failures = queue.Queue(64), []

        def send():
            connection = self.connection()
            while (file := waiting.get()) is not None:
                path, content, date = file
                query = urllib.parse.urlencode({"client_mtime": date.strftime("%a, %d %b %Y %H:%M:%S +0000")})
                target = f"/1/files_put/auto/byteclub/{urllib.parse.quote(path)}?{query}"
                connection.request("PUT", target, content, {"Authorization": f"Bearer {token}"})
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    failures.append((path, answer.status, body[:200]))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for file in files:
            waiting.put(file)
        for _ in threads:
            waiting.put(None)
        for thread in threads:
            thread.join()
        told(not failures, "all files are stored", failures[:3])

    def is_ready(self):
        """Whether no photo is unread, and the server rests."""
        before = self.processor()
        time.sleep(2)
        index = json.loads(self.get("/gallery/index")[0])
        unread = sum(ratio < 0 for day in index["days"][1::2] for ratio in day)
        return unread == 0 and self.processor() - before < 0.1

    # The server

    def connection(self):
        address = urllib.parse.urlsplit(self.url)
        return http.client.HTTPConnection(address.hostname, address.port, timeout=120)

    def sign_in(self, name):
        connection = self.connection()
        connection.request("GET", "/login")
        answer = connection.getresponse()
        page, given = answer.read().decode(), answer.getheader("Set-Cookie", "").partition(";")[0]
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
        fields |= {"name": name, "password": password}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.url, "Cookie": given}
        connection.request("POST", "/login", urllib.parse.urlencode(fields), headers)
        answer = connection.getresponse()
        answer.read()
        cookie = answer.getheader("Set-Cookie", "").partition(";")[0]
        told(answer.status in (302, 303) and cookie, f"{name} is signed in", answer.status)
        return cookie

    def get(self, path, cookie=None, connection=None):
        """The body, and the seconds until it was there."""
        connection = connection or self.connection()
        began = time.monotonic()
        connection.request("GET", path, headers={"Cookie": cookie or self.cookies[0], "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            told(False, f"GET {path}", (answer.status, body[:300]))
        return body, time.monotonic() - began

    def processor(self):
        """The seconds of processor that the server has used."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / ticks

    def memory(self):
        """The MiB that the server has in memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def row(self, what, value, bound, unit, digits=2):
        """Keeps a value, which may be at most its bound; None for one that is only told."""
        is_met = bound is None or value <= bound
        self.rows.append((what, f"{value:.{digits}f} {unit}", "" if bound is None else f"{bound:g} {unit}", is_met))
        print(f"       {what}: {value:.{digits}f} {unit}", flush=True)

    def table(self):
        """Prints all values; returns whether all bounds are met."""
        print(f"\n| value | measured | bound | met |\n|---|---|---|---|")
        for what, value, bound, is_met in self.rows:
            print(f"| {what} | {value} | {bound} | {'' if not bound else 'yes' if is_met else 'NO'} |")
        return all(is_met for *_, is_met in self.rows)

    def cost(self, path, times=20):
        """The seconds of processor and of the clock for one request, and the bytes of its answer."""
        connection = self.connection()
        body, _ = self.get(path, connection=connection)
        before = self.processor()
        took = [self.get(path, connection=connection)[1] for _ in range(times)]
        return (self.processor() - before) / times, statistics.median(took), len(body)

    def server(self):
        """The first view: page, index and items."""
        parts = [("the page", "/gallery"), ("the index", "/gallery/index"), ("60 items", "/gallery/items?limit=60")]
        costs = [self.cost(path) for _, path in parts]
        for (name, _), (_, _, size) in zip(parts, costs):
            self.row(f"{name}: sent", size / 1000, None, "kB", 0)
        for (name, _), (cost, _, _) in zip(parts, costs):
            self.row(f"{name}: processor", cost, None, "s", 3)
        self.row("first view: processor of the server", sum(cost for cost, _, _ in costs), 0.4, "s", 3)

    def old(self):
        """A large album, search, and filters."""
        inside = urllib.parse.quote(f"/byteclub/photos/{album}")
        for name, path in (
            ("an album of 5,000: page", f"/albums{inside}"),
            ("an album of 5,000: index", f"/gallery/index?in={urllib.parse.quote(inside, safe='%')}"),
            ("search for a word of half of the notes: page", "/gallery?q=compass"),
            ("search for a word of half of the notes: index", "/gallery/index?q=compass"),
            ("search for a part of all photos' names: page", "/gallery?q=img"),
            ("search for a part of all photos' names: index", "/gallery/index?q=img"),
            ("panoramas: page", "/gallery?show=panoramas"),
            ("panoramas: index", "/gallery/index?show=panoramas"),
            ("a year: page", "/gallery?from=2024-01&to=2024-12"),
            ("a year: index", "/gallery/index?from=2024-01&to=2024-12"),
            ("one member's: page", "/gallery?who=1"),
            ("one member's: index", "/gallery/index?who=1"),
            ("notes: page", "/gallery?show=notes"),
            ("items of the middle", f"/gallery/items?limit=60&before={self.middle()}"),
            ("albums", "/albums"),
        ):
            self.row(f"{name}: processor", self.cost(path, 10)[0], 0.4, "s", 3)

    def middle(self):
        marks = json.loads(self.get("/gallery/index")[0])["marks"]
        return marks[len(marks) // 2]

    def crowd(self):
        """Many open galleries: memory at rest, and processor and memory while somebody adds photos."""
        for path in ("/gallery", "/gallery/index", "/gallery/items?limit=60"):
            self.get(path)
        time.sleep(2)
        idle, plain = self.memory(), self.upload("before")
        self.row("100 photos added with no open gallery: processor", plain, None, "s")
        stop, asked, opened = threading.Event(), [0], threading.Barrier(galleries + 1)

        def watch(number):
            cookie, connection = self.cookies[number % members], self.connection()
            for path in ("/gallery", "/gallery/items?limit=60"):
                self.get(path, cookie, connection)
            revision = revision_of(self.get("/gallery/index", cookie, connection)[0])
            opened.wait()
            rested = 0
            while not stop.is_set():
                # As gallery.js does.
                with contextlib.suppress(OSError, http.client.HTTPException):
                    event, _ = self.get(f"/gallery/events?after={revision}", cookie, connection)
                    found = re.search(rb"event: change\ndata: (\d+)", event)
                    if not found or stop.is_set():
                        continue
                    revision = int(found[1])
                    time.sleep(max(0, rested - time.monotonic()))
                    took = self.get(f"/gallery/index?since={revision}", cookie, connection)[1]
                    asked[0] += 1
                    rested = time.monotonic() + max(0.2, 10 * took)
                    continue
                connection = self.connection()

        threads = [threading.Thread(target=watch, args=(number,), daemon=True) for number in range(galleries)]
        for thread in threads:
            thread.start()
        opened.wait()
        time.sleep(2)
        self.row("50 open galleries: memory more than idle", self.memory() - idle, 64, "MiB", 1)
        before = self.processor()
        time.sleep(5)
        self.row("50 open galleries at rest: processor a second", (self.processor() - before) / 5, 0.05, "s", 3)
        most, done = [0.0], threading.Event()

        def peak():
            while not done.is_set():
                most[0] = max(most[0], self.memory())
                time.sleep(0.05)

        watcher = threading.Thread(target=peak)
        watcher.start()
        busy = self.upload("during")
        done.set()
        watcher.join()
        self.row("100 photos added with 50 open galleries: processor", busy, None, "s")
        self.row("of that for the galleries", busy - plain, 4, "s")
        self.row("indexes that these asked for", asked[0], None, "", 0)
        self.row("meanwhile: memory more than idle", most[0] - idle, 64, "MiB", 1)
        stop.set()
        self.put_all(self.token, [("the end of it.md", str(time.time()).encode(), datetime.datetime(2000, 1, 1))])

    def upload(self, name):
        """Adds 100 photos over some seconds as somebody's browser does; returns the server's processor time."""
        chance = random.Random(name)
        picture = self.pictures(chance)[0]
        before, moment = self.processor(), str(time.time_ns())
        for number in range(100):
            file = f"photos/{name} {moment} {number}.jpg"
            connection = self.connection()
            connection.request(
                "PUT", f"/1/files_put/auto/byteclub/{urllib.parse.quote(file)}", picture + os.urandom(8),
                {"Authorization": f"Bearer {self.token}"},
            )
            told(connection.getresponse().read() is not None, file) if number == 99 else connection.getresponse().read()
            time.sleep(0.05)
        while True:
            last = self.processor()
            time.sleep(2)
            if self.processor() - last < 0.06:
                return last - before

    # The browser

    def visitor(self, name, **options):
        visitor = Quiet(name, **options)
        visitor.call("POST", "/timeouts", {"script": 300_000})
        visitor.command("Page.addScriptToEvaluateOnNewDocument", source=watch)
        visitor.open(self.pages + "/login")
        visitor.fill("Name", name)
        visitor.fill("Password", password)
        visitor.click("Sign in")
        eventually("a member is signed in", lambda: "/login" not in visitor.run("return location.pathname"), visitor.text)
        return visitor

    def phone_visitor(self):
        return self.visitor(self.names[1], phone=True)

    def desk(self):
        """The first view on a desk."""
        visitor = self.visitor(self.names[0])
        self.first(visitor, "desk", 1.5)
        visitor.close()

    def phone(self):
        """The first view on a phone with a processor four times as slow, and behind a slow network."""
        visitor = self.phone_visitor()
        visitor.command("Emulation.setCPUThrottlingRate", rate=4)
        self.first(visitor, "phone, processor 4 × slower", 1.5)
        visitor.command("Network.enable")
        # Chromium's "slow 4G".
        visitor.command(
            "Network.emulateNetworkConditions", offline=False, latency=150,
            downloadThroughput=1_600_000 / 8, uploadThroughput=750_000 / 8,
        )
        self.first(visitor, "the same behind slow 4G", 3)
        visitor.close()

    def first(self, visitor, what, bound, times=5):
        """The moments at which somebody sees the first words, colours and picture, with nothing kept from before."""
        seen = []
        for _ in range(times):
            visitor.command("Network.clearBrowserCache")
            visitor.open("about:blank")
            visitor.open(self.pages + "/gallery")
            eventually("there is a picture", lambda: visitor.run("return seen.picture"), visitor.text)
            seen.append(visitor.run("return [seen.paint, seen.colours || seen.picture, seen.picture, seen.all || 0]"))
            time.sleep(0.5)
        for name, limit, values in zip(("first paint", "first place holder", "first picture"), (None, None, bound), zip(*seen)):
            self.row(f"{what}: {name}", statistics.median(values) / 1000, limit, "s")

    def scrolling(self):
        """Through all of it and back, flings, and jumps, on a desk."""
        self.all_of_it(self.visitor(self.names[2]), "desk")

    def swiping(self):
        """The same on a phone."""
        self.all_of_it(self.phone_visitor(), "phone")

    def all_of_it(self, visitor, what):
        visitor.open(self.pages + "/gallery")
        eventually("there is a picture", lambda: visitor.run("return seen.picture"), visitor.text)
        time.sleep(2)
        self.through(visitor, what)
        self.fling(visitor, what)
        self.jump(visitor, what)
        self.row(f"{what}: layout shift while scrolling", visitor.shift(), 0.0049, "", 4)
        self.page_memory(visitor, what)
        visitor.close()

    def through(self, visitor, what):
        """All of it in ten windows a second, down and up."""
        for way in ("down", "up"):
            visitor.run(
                """
                const end = document.documentElement.scrollHeight - innerHeight, steps = 600;
                begin();
                for (let step = 0; step <= steps; step++) {
                  const part = args[0] === "down" ? step / steps : 1 - step / steps;
                  scrollTo({ top: part * end, behavior: "instant" });
                  await new Promise(requestAnimationFrame);
                }""",
                way,
            )
            self.gaps(visitor, f"{what}: through all of it, {way}", None)

    def fling(self, visitor, what):
        """Flings of a finger or a wheel at some places."""
        for part in (0.1, 0.5, 0.8):
            visitor.run("scrollTo({ top: args[0] * document.documentElement.scrollHeight, behavior: 'instant' })", part)
            time.sleep(1)
            visitor.run("begin()")
            before = visitor.run("return scrollY")
            for distance in (-6000, -6000, 3000, -9000):
                if what == "phone":
                    for _ in range(abs(distance) // 1000):
                        self.swipe(visitor, distance // 10)
                else:
                    visitor.command(
                        "Input.synthesizeScrollGesture", x=150, y=450, yDistance=distance, speed=6000,
                        gestureSourceType="mouse",
                    )
            far = visitor.run("return scrollY") - before
            self.gaps(visitor, f"{what}: flings over {far:.0f} px", 100)

    @staticmethod
    def swipe(visitor, distance):
        """A finger that lets go while it moves."""
        touch = functools.partial(visitor.command, "Input.dispatchTouchEvent")
        y = 200 if distance > 0 else 700
        touch(type="touchStart", touchPoints=[{"x": 150, "y": y}])
        for step in range(1, 6):
            touch(type="touchMove", touchPoints=[{"x": 150, "y": y + distance * step / 10}])
        touch(type="touchEnd", touchPoints=[])

    def jump(self, visitor, what):
        """Drags the slider through the years, with stops."""
        visitor.run("scrollTo({ top: 0, behavior: 'instant' })")
        time.sleep(1)
        box = visitor.run(
            "scrollBy(0, 50); const box = document.querySelector('.scrubber').getBoundingClientRect();"
            "return [box.right - 20, box.top, box.bottom]"
        )
        x, top, bottom = box
        time.sleep(0.3)
        visitor.run("begin()")
        mouse = functools.partial(visitor.command, "Input.dispatchMouseEvent", x=x, button="left", clickCount=1)
        mouse(type="mousePressed", y=top + 20)
        chance = random.Random(4)
        for stop in range(12):
            y, goal = (top + 20 if stop == 0 else goal), chance.uniform(top + 10, bottom - 10)
            for step in range(1, 11):
                mouse(type="mouseMoved", y=y + (goal - y) * step / 10)
            time.sleep(0.6)
        mouse(type="mouseReleased", y=goal)
        self.gaps(visitor, f"{what}: jumps of the slider", 300)

    def gaps(self, visitor, what, blank):
        """Takes what was seen since begin()."""
        found = visitor.run("return end()")
        self.row(f"{what}: longest gap between frames", found["gap"], 100, "ms", 0)
        self.row(f"{what}: gaps over 100 ms of {found['frames']} frames", found["gaps"], 0, "", 0)
        self.row(f"{what}: longest time of a tile in the window without colours", found["blank"], blank, "ms", 0)
        self.row(f"{what}: frames with nothing", found["holes"], 0, "", 0)

    def page_memory(self, visitor, what):
        visitor.command("Performance.enable")
        metrics = {each["name"]: each["value"] for each in visitor.command("Performance.getMetrics")["metrics"]}
        self.row(f"{what}: scripts' memory after scrolling", metrics["JSHeapUsedSize"] / 2**20, 300, "MiB", 0)
        self.row(f"{what}: elements", metrics["Nodes"], None, "", 0)
        before = max(renderers())[0]
        self.row(f"{what}: memory of the page's process with what is not collected yet", before, None, "MiB", 0)
        visitor.command("HeapProfiler.collectGarbage")
        time.sleep(2)
        own, shared = max(renderers())
        self.row(f"{what}: memory of the page's process", own, 300, "MiB", 0)
        # Decoded pictures that Chromium's software keeps until the system needs the memory, half a gigabyte at most.
        self.row(f"{what}: pictures that may be discarded", shared, None, "MiB", 0)

    def still(self):
        """What is looked at stays through loading, others' uploads and the turning of a phone."""
        visitor = self.phone_visitor()
        visitor.open(self.pages + "/gallery")
        eventually("there is a picture", lambda: visitor.run("return seen.picture"), visitor.text)
        time.sleep(2)
        self.row("phone: layout shift of loading", visitor.shift(), 0.0049, "", 4)
        for part in (0.02, 0.4, 0.9):
            visitor.run("scrollTo({ top: args[0] * document.documentElement.scrollHeight, behavior: 'instant' })", part)
            time.sleep(1.5)
            before = visitor.run(looked_at)
            for width, height in ((844, 390), (390, 844)):
                visitor.command(
                    "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True
                )
                time.sleep(1)
                after = visitor.run(where, before[0])
                told(after is not None, f"what was looked at is in the window of {width} × {height}", before)
            self.row("phone: what was looked at has moved by two turns", abs(after - before[1]), 2, "px", 1)
        visitor.run("seen.shift = 0")
        before = visitor.run(looked_at)
        self.upload("looked at")
        time.sleep(3)
        after = visitor.run(where, before[0])
        told(after is not None, "what was looked at is there after uploads", before)
        self.row("phone: what was looked at has moved by uploads", abs(after - before[1]), 0, "px", 1)
        self.row("phone: layout shift of uploads", visitor.shift(), 0.0049, "", 4)
        told(visitor.run("return !document.getElementById('news').hidden"), "a pill tells of what is new")
        visitor.close()


class Quiet(Visitor):
    """A visitor without a log of the network, for which the page's process would keep all answers in memory."""

    def __init__(self, name, phone=False):
        Browser.__init__(self, name, phone, with_webgl)
        self.there.append(self)
        self.downloads = pathlib.Path(tempfile.mkdtemp(prefix="byteclub-downloads-"))
        self.command("Page.addScriptToEvaluateOnNewDocument", source=notebook)


def revision_of(index):
    return int(re.search(rb'"revision":\s*(\d+)', index)[1])


def renderers():
    """The MiB of each process of a page that this one's browsers have: its own, and what is shared."""
    parents, found = {}, []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        with contextlib.suppress(OSError):
            folder = pathlib.Path(f"/proc/{process}")
            if above == os.getpid() and b"--type=renderer" in (folder / "cmdline").read_bytes():
                status = (folder / "status").read_text()
                own, shared = (int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "RssShmem"))
                found.append((own - shared, shared))
    return found


# In the page from before its own scripts: the moments of what is seen, gaps between frames, and empty tiles.
watch = """
{
  const within = (box) => box.bottom > 60 && box.top < innerHeight && box.width > 0;
  const isThere = (image) => image.complete && image.naturalWidth > 0 &&
    image.checkVisibility({ visibilityProperty: true }) && within(image.getBoundingClientRect());
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "first-contentful-paint") seen.paint = entry.startTime;
  }).observe({ type: "paint", buffered: true });
  const first = () => {
    const days = document.getElementById("days");
    if (days && !seen.colours && [...days.querySelectorAll("canvas, .tile[style]")].some((each) =>
      (each.matches("canvas") || each.style.backgroundImage) && within(each.getBoundingClientRect())))
      seen.colours = performance.now();
    if (days && [...days.querySelectorAll("img")].some(isThere)) seen.picture = performance.now();
    else requestAnimationFrame(first);
  };
  requestAnimationFrame(first);

  let state = null;
  const look = (time) => {
    if (!state) return;
    if (state.last) {
      state.gap = Math.max(state.gap, time - state.last);
      if (time - state.last > 100) state.gaps++;
      state.frames++;
    }
    state.last = time;
    requestAnimationFrame(look);
    // After the frame is drawn, so that nothing is laid out for this.
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      if (!state) return;
      let count = 0;
      const empty = new Map();
      for (const tile of document.querySelectorAll("#days .tile")) {
        if (!within(tile.getBoundingClientRect())) continue;
        count++;
        const isFilled = tile.matches(".line, .loaded, .broken") ? tile.childElementCount > 0 :
          tile.querySelector("canvas") || tile.style.backgroundImage;
        if (!isFilled) empty.set(tile, state.empty.get(tile) ?? time);
      }
      for (const since of empty.values()) state.blank = Math.max(state.blank, time - since);
      state.empty = empty;
      if (count === 0) state.holes++;
    };
    channel.port2.postMessage(0);
  };
  window.begin = () => {
    state = { gap: 0, gaps: 0, frames: 0, blank: 0, holes: 0, last: 0, empty: new Map() };
    requestAnimationFrame(look);
  };
  window.end = () => { const { gap, gaps, frames, blank, holes } = state; state = null; return { gap, gaps, frames, blank, holes }; };
}
"""

# The tile nearest below the bar, and where it is.
looked_at = """
    const tiles = [...document.querySelectorAll("#days a.tile")].map((tile) => [tile.getAttribute("href"),
      tile.getBoundingClientRect().top]).filter(([, top]) => top >= 0).sort((a, b) => a[1] - b[1]);
    return tiles.find(([, top]) => top > 60)"""
where = """
    const tile = [...document.querySelectorAll("#days a.tile")].find((tile) => tile.getAttribute("href") === args[0]);
    const box = tile?.getBoundingClientRect();
    return box && box.bottom > 0 && box.top < innerHeight ? box.top : null"""


def main():
    parts = ("server", "old", "desk", "phone", "scrolling", "swiping", "still", "crowd")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", metavar="DIR", type=pathlib.Path, default=project / ".build/release")
    parser.add_argument("--club", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--only", metavar="NAME", action="append", choices=parts)
    arguments = parser.parse_args()
    if not shutil.which("chromedriver"):
        sys.exit("crowd: chromedriver is missing; apt install chromium chromium-driver")
    print(f"       load of the machine: {' '.join(f'{each:.1f}' for each in os.getloadavg())}", flush=True)
    Visitor.port = 9535
    club = driver = None
    try:
        club = Crowd(arguments.programs, arguments.club)
        club.found()
        driver = Visitor.start_driver()
        for part in arguments.only or parts:
            getattr(club, part)()
    except steps.Failed as failure:
        print(f"crowd: {failure}", file=sys.stderr)
        sys.exit(1)
    finally:
        Visitor.close_all()
        if driver:
            driver.terminate()
            driver.wait()
        if club:
            club.close()
    sys.exit(0 if club.table() else 1)


if __name__ == "__main__":
    main()
