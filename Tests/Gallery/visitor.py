"""A browser with hands, eyes and a notebook: keys, pointers, pixels, and what it has asked the network for."""

import base64
import io
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from browser import Browser
from PIL import Image
from steps import eventually

# How WebDriver writes keys that have no letter.
keys = {
    name: chr(code)
    for name, code in {
        "Backspace": 0xE003,
        "Tab": 0xE004,
        "Enter": 0xE007,
        "Shift": 0xE008,
        "Control": 0xE009,
        "Escape": 0xE00C,
        "Space": 0x20,
        "PageUp": 0xE00E,
        "PageDown": 0xE00F,
        "End": 0xE010,
        "Home": 0xE011,
        "Left": 0xE012,
        "Up": 0xE013,
        "Right": 0xE014,
        "Down": 0xE015,
    }.items()
}

# What each page is watched by, from before its own scripts: frames of the viewer, shifts of the layout, refusals.
notebook = """
window.seen = { frames: [], shift: 0, refused: [] };
document.addEventListener("drawn", event => seen.frames.push({ ...event.detail, time: performance.now() }), true);
document.addEventListener("securitypolicyviolation", event =>
  seen.refused.push(event.violatedDirective + " " + event.blockedURI));
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""

# Software for a screen that is not there; without the switch some versions of Chromium have no WebGL then.
with_webgl = ("enable-unsafe-swiftshader",)
without_webgl = ("disable-gpu", "disable-3d-apis")


class Visitor(Browser):
    """A browser with a profile of its own that does what people do with mouse, fingers and keyboard."""

    there = []
    is_firefox = False

    def __init__(self, name, phone=False, switches=with_webgl):
        super().__init__(name, phone, switches, **{"goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}})
        self.there.append(self)
        self.downloads = pathlib.Path(tempfile.mkdtemp(prefix="byteclub-downloads-"))
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        # What the last page may load, as its server says.
        self.policy = ""
        self.command("Page.addScriptToEvaluateOnNewDocument", source=notebook)

    @classmethod
    def start_driver(cls):
        """Starts what browsers are driven through, and returns the process."""
        driver = subprocess.Popen(
            ["chromedriver", f"--port={cls.port}", "--log-level=SEVERE"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        eventually("there is a browser", cls.is_ready)
        return driver

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def run(self, script, *arguments):
        """What a function body returns in the page; a promise is waited for."""
        body = (
            f"const done = arguments[arguments.length - 1]; (async (...args) => {{ {script}"
            " })(...arguments).then(done, e => done('' + e));"
        )
        return self.call("POST", "/execute/async", {"script": body, "args": list(arguments)})

    def see(self, what, script, *arguments, seconds=30):
        """Waits until a function body returns something in the page, prints that as a step, and returns it."""
        return eventually(what, lambda: self.run(script, *arguments), self.text, seconds)

    def has(self, css):
        """How many elements that can be seen a selector finds."""
        return self.run("return [...document.querySelectorAll(args[0])].filter(e => e.checkVisibility()).length", css)

    def address(self):
        return self.run("return decodeURI(location.pathname + location.search)")

    def reads(self, css):
        """The text of the first element of a selector."""
        return self.run("return document.querySelector(args[0])?.innerText.trim() ?? null", css)

    def elements(self, css):
        found = self.call("POST", "/elements", {"using": "css selector", "value": css})
        return [next(iter(element.values())) for element in found]

    def close(self):
        self.there.remove(self)
        self.call("DELETE", "")
        shutil.rmtree(self.downloads)

    @classmethod
    def close_all(cls):
        """Closes what a failure has left open."""
        for visitor in list(cls.there):
            visitor.close()

    # Hands

    def act(self, *sources):
        self.call("POST", "/actions", {"actions": list(sources)})

    def press(self, *names):
        """Presses keys one after the other; "Shift+Left" holds the first meanwhile."""
        steps = []
        for name in names:
            chord = [keys.get(part, part) for part in (name.split("+") if len(name) > 1 else [name])]
            steps += [{"type": "keyDown", "value": key} for key in chord]
            steps += [{"type": "keyUp", "value": key} for key in reversed(chord)]
        self.act({"type": "key", "id": "keyboard", "actions": steps})

    def type(self, text):
        """Types a text into whatever has the focus."""
        steps = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self.act({"type": "key", "id": "keyboard", "actions": steps})

    def enter(self, css, text):
        """Replaces what is in a field."""
        field, *_ = self.elements(css)
        self.call("POST", f"/element/{field}/clear", {})
        self.call("POST", f"/element/{field}/value", {"text": text})

    def press_button(self, css):
        """Clicks an element as WebDriver does: scrolled into view, and not covered by another."""
        element, *_ = self.elements(css)
        self.call("POST", f"/element/{element}/click", {})

    def choose(self, css, *files):
        """Chooses files in a field."""
        field, *_ = self.elements(css)
        self.call("POST", f"/element/{field}/value", {"text": "\n".join(map(str, files))})

    def back(self):
        self.call("POST", "/back", {})

    def focus(self, css):
        self.run("document.querySelector(args[0]).focus()", css)

    def place(self, css):
        """The middle of an element, in pixels of the window."""
        return self.run(
            "const box = document.querySelector(args[0]).getBoundingClientRect();"
            "return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]",
            css,
        )

    def click_on(self, css):
        x, y = self.place(css)
        self.drag_path([(x, y)])

    def drag_path(self, points, kind="mouse", pause=20, rest=0):
        """Presses at the first point, moves over the others, rests and lets go."""
        (x, y), *others = points
        steps = [{"type": "pointerMove", "duration": 0, "x": x, "y": y}, {"type": "pointerDown", "button": 0}]
        steps += [{"type": "pointerMove", "duration": pause, "x": x, "y": y} for x, y in others]
        steps += [{"type": "pause", "duration": rest}, {"type": "pointerUp", "button": 0}]
        self.act({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": steps})

    def pinch(self, css, start, end):
        """Two fingers move from one distance to their middle to another."""
        x, y = self.place(css)

        def finger(side):
            return {
                "type": "pointer",
                "id": f"finger {side}",
                "parameters": {"pointerType": "touch"},
                "actions": [
                    {"type": "pointerMove", "duration": 0, "x": x + side * start, "y": y},
                    {"type": "pointerDown", "button": 0},
                    *(
                        {
                            "type": "pointerMove",
                            "duration": 30,
                            "x": round(x + side * (start + (end - start) * step / 5)),
                            "y": y,
                        }
                        for step in range(1, 6)
                    ),
                    {"type": "pause", "duration": 200},
                    {"type": "pointerUp", "button": 0},
                ],
            }

        self.act(finger(-1), finger(1))

    def scroll(self, css, down):
        x, y = self.place(css)
        self.act(
            {
                "type": "wheel",
                "id": "wheel",
                "actions": [{"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": down, "duration": 0}],
            }
        )

    # Eyes

    def frames(self):
        """The frames that the viewer has drawn, oldest first: yaw, pitch, fov, size of the picture, time in ms."""
        return self.run("return seen.frames")

    def view(self):
        frames = self.frames()
        return frames[-1] if frames else None

    def settled(self):
        """The last frame once no other follows it."""
        count = -1
        while count != (count := self.run("return seen.frames.length")):
            time.sleep(0.25)
        return self.view()

    def look(self, yaw, pitch, fov):
        """The view that the viewer makes of this one, and its pixels."""
        answer = self.run(
            """
            const canvas = document.querySelector(".viewer canvas");
            return await new Promise(done => {
              canvas.addEventListener(
                "drawn", event => done([event.detail, canvas.toDataURL("image/png")]), { once: true });
              const [yaw, pitch, fov] = args;
              canvas.dispatchEvent(new CustomEvent("look", { detail: { yaw, pitch, fov } }));
            });""",
            yaw,
            pitch,
            fov,
        )
        return answer[0], decoded(answer[1].partition(",")[2])

    def shift(self):
        """How much the layout has shifted, as Chromium counts it, in thousandths."""
        return round(self.run("return seen.shift"), 3)

    def refused(self):
        """What the page's policy has refused."""
        return self.run("return seen.refused")

    def complaints(self):
        """What the page has complained of in the console since the last call."""
        lines = self.call("POST", "/se/log", {"type": "browser"})
        messages = [line["message"] for line in lines if line["level"] in ("SEVERE", "WARNING")]
        # What the driver of a screen that is not there says of itself.
        return [message for message in messages if "GL Driver Message" not in message]

    def dark(self, on=True):
        self.prefer("prefers-color-scheme", "dark" if on else "light")

    def prefer(self, feature, value):
        """Tells pages what somebody has chosen in the system."""
        self.preferences = {**getattr(self, "preferences", {}), feature: value}
        features = [{"name": name, "value": value} for name, value in self.preferences.items()]
        self.command("Emulation.setEmulatedMedia", features=features)

    def resize(self, width, height, scale=1):
        """Gives the page a window of this many pixels."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def requests(self):
        """The addresses that were asked for since the last call; keeps the policy of the last page."""
        asked = []
        for line in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.responseReceived" and message["params"]["type"] == "Document":
                headers = message["params"]["response"]["headers"]
                self.policy = next((headers[name] for name in headers if name.lower() == "content-security-policy"), "")
        return asked


def decoded(text):
    return Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB")
