"""Debian's Chromium, driven as a person drives a browser."""

import base64
import itertools
import json
import socket
import subprocess
import urllib.error
import urllib.request

import steps
from steps import Failed, eventually
from pages import Visitor


class Browser(Visitor):
    """A browser with a profile of its own."""

    port = 9515
    count = itertools.count(1)

    def __init__(self, name, phone=False, switches=("disable-gpu",), **capabilities):
        self.name = name
        switches = ["headless=new", "no-sandbox", "disable-dev-shm-usage", "window-size=1280,900", *switches]
        options = {"args": ["--" + switch for switch in switches]}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 2}}
        # Somebody who has been told of the certificate clicks the browser's warning away.
        wanted = {"browserName": "chrome", "acceptInsecureCerts": True, "goog:chromeOptions": options, **capabilities}
        self.path = ""
        self.path = "/" + self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    @classmethod
    def start(cls, person):
        """Starts what browsers are driven through, on somebody's machine."""
        driver = ["chromedriver", f"--port={cls.port}", "--log-level=SEVERE"]
        subprocess.Popen([*person.arguments, *driver], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually("there is a browser", cls.is_ready)

    @classmethod
    def is_ready(cls):
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", cls.port)) == 0

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/session{self.path}{path}", data, method=method,
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(f"{self.name}'s browser: {json.load(error)['value']['message'].splitlines()[0]}\n{self.text()}")

    def text(self):
        try:
            return self.call("POST", "/execute/sync", {"script": "return document.body.innerText", "args": []}) or ""
        except (Failed, OSError):
            return ""

    def open(self, url):
        print(f"               {self.name} opens {url}", flush=True)
        self.call("POST", "/url", {"url": url})

    def find(self, path):
        return next(iter(self.call("POST", "/element", {"using": "xpath", "value": path}).values()))

    def fill(self, label, text):
        element = self.find(f"//label[starts-with(normalize-space(.), '{label}')]//input")
        self.call("POST", f"/element/{element}/value", {"text": text})

    def click(self, button):
        element = self.find(f"//button[normalize-space(.)='{button}']")
        self.call("POST", f"/element/{element}/click", {})

    def unfold(self, summary):
        element = self.find(f"//summary[normalize-space(.)='{summary}']")
        self.call("POST", f"/element/{element}/click", {})

    def photograph(self, name):
        if steps.keep:
            image = base64.b64decode(self.call("GET", "/screenshot"))
            (steps.keep / f"{next(self.count):02} {self.name} {name}.png").write_bytes(image)
