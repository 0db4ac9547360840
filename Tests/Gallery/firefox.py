"""Debian's Firefox, which brings WebDriver's commands itself, in a protocol of its own called Marionette."""

import itertools
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile

from steps import Failed, eventually
from visitor import Visitor

# Marionette's names of WebDriver's commands, by method and last word of the path.
commands = {
    ("POST", "url"): "Navigate",
    ("POST", "back"): "Back",
    ("POST", "async"): "ExecuteAsyncScript",
    ("POST", "sync"): "ExecuteScript",
    ("POST", "element"): "FindElement",
    ("POST", "elements"): "FindElements",
    ("POST", "value"): "ElementSendKeys",
    ("POST", "clear"): "ElementClear",
    ("POST", "click"): "ElementClick",
    ("POST", "actions"): "PerformActions",
    ("POST", "rect"): "SetWindowRect",
    ("GET", "screenshot"): "TakeScreenshot",
}

preferences = """
user_pref("marionette.port", {port});
user_pref("webgl.force-enabled", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
user_pref("browser.download.dir", "{profile}/downloads");
user_pref("browser.download.folderList", 2);
"""


class FirefoxVisitor(Visitor):
    """A Firefox of its own with a fresh profile, which can do what Chromium can but for the DevTools' commands."""

    is_firefox = True

    def __init__(self, name, phone=False, switches=()):
        self.name, self.policy, self.numbers = name, "", itertools.count(1)
        self.profile = pathlib.Path(tempfile.mkdtemp(prefix="byteclub-firefox-"))
        self.downloads = self.profile / "downloads"
        self.downloads.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (self.profile / "user.js").write_text(preferences.format(port=port, profile=self.profile))
        self.process = subprocess.Popen(
            [
                "firefox-esr",
                "--headless",
                "--marionette",
                "--remote-allow-system-access",
                "--no-remote",
                "--profile",
                self.profile,
                "--width",
                "1280",
                "--height",
                "900",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.there.append(self)
        self.connection = eventually("there is a Firefox", lambda: connect(port))
        self.answers = self.connection.makefile("rb")
        self.read()
        self.ask("WebDriver:NewSession", acceptInsecureCerts=True)

    def read(self):
        length = b""
        while (byte := self.answers.read(1)) != b":":
            if not byte:
                raise Failed(f"{self.name}'s Firefox has ended")
            length += byte
        return json.loads(self.answers.read(int(length)))

    def ask(self, command, **parameters):
        data = json.dumps([0, next(self.numbers), command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(data), data))
        _, _, error, result = self.read()
        if error:
            raise Failed(f"{self.name}'s Firefox: {error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def call(self, method, path, body=None):
        words = path.strip("/").split("/")
        parameters = dict(body or {})
        if words[0] == "element" and len(words) == 3:
            parameters["id"] = words[1]
        if words[-1] == "screenshot":
            parameters["full"] = False
        return self.ask("WebDriver:" + commands[method, words[-1]], **parameters)

    def command(self, name, **parameters):
        raise Failed(f"Firefox has no {name}")

    def in_browser(self, script):
        """What a function body returns that runs with the rights of the browser."""
        self.ask("Marionette:SetContext", value="chrome")
        try:
            return self.ask("WebDriver:ExecuteScript", script=script, args=[])
        finally:
            self.ask("Marionette:SetContext", value="content")

    def complaints(self):
        return self.in_browser("""
            const messages = Services.console.getMessageArray()
              .filter(each => each instanceof Ci.nsIScriptError && !each.isFromChromeContext)
              .filter(each => /^http:/.test(each.sourceName) || /^CSP/.test(each.category));
            Services.console.reset();
            return messages.map(each =>
              `${each.category}: ${each.errorMessage} (${each.sourceName}:${each.lineNumber})`);
            """)

    def prefer(self, feature, value):
        name, number = {
            "prefers-color-scheme": ("layout.css.prefers-color-scheme.content-override", 0 if value == "dark" else 1),
            "prefers-reduced-motion": ("ui.prefersReducedMotion", 1 if value == "reduce" else 0),
        }[feature]
        self.in_browser(f"Services.prefs.setIntPref('{name}', {number})")

    def resize(self, width, height, scale=1):
        self.ask("WebDriver:SetWindowRect", width=width, height=height)

    def requests(self):
        found = self.run("""
            const answer = await fetch(location.href, { method: "HEAD" }).catch(() => null);
            const entries = performance.getEntriesByType("resource");
            return [answer?.headers.get("content-security-policy") ?? "", entries.map(each => each.name)];""")
        if not isinstance(found, list):
            return []
        self.policy = found[0]
        return found[1]

    def shift(self):
        """Nothing: Firefox does not count how much a layout shifts."""
        return 0

    def refused(self):
        """Nothing: what the policy refuses is in the console."""
        return []

    def close(self):
        self.there.remove(self)
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.profile, ignore_errors=True)


def connect(port):
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=120)
    except OSError:
        return None
