"""The drafts of the note editor: when the browser is killed while somebody types, at most a second of it is lost.

python3 Tests/Gallery/drafts.py --programs DIR [--kills 50] [--seed N] runs it alone; it needs chromium and
chromium-driver. Each kill ends all processes of the browser at a random moment; the next browser has the same profile.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

project = pathlib.Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(project / "Tests/FirstDay"), str(project / "Tests/Gallery")]
    sys.dont_write_bytecode = True

from server import Server, password
from steps import Failed, eventually, told
from visitor import Visitor

# How much may be lost, in seconds.
limit = 1
words = "rope hut ridge dawn soup tripod snow pass cairn larch é 日本 fog moraine".split()
area = "form.editor textarea"


class Drafts:
    """A server with one note, and a browser that is killed again and again."""

    def __init__(self, programs, kills=50, seed=None):
        self.kills = kills
        self.seed = random.randrange(1 << 32) if seed is None else seed
        self.random = random.Random(self.seed)
        self.server = Server(programs)
        self.ada = self.server.member("ada", *(["owner"] if "role" in Server.member.__code__.co_varnames else []))
        self.ada.write("day.md", "# A day\n\nIt began.\n")
        self.profile = tempfile.mkdtemp(prefix="byteclub-profile-")
        self.session = self.sign_in()

    def sign_in(self):
        """The cookie of a session, which a killed browser may have forgotten."""
        import http.cookiejar

        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = opener.open(self.server.url + "/login", timeout=30).read().decode()
        token = page.split('name="csrf" value="')[1].split('"')[0]
        fields = {"csrf": token, "name": "ada", "password": password, "next": "/notes"}
        opener.open(self.server.url + "/login", urllib.parse.urlencode(fields).encode(), timeout=30)
        return next(cookie.value for cookie in jar if cookie.name == "byteclub")

    def check(self):
        print(f"               {self.kills} kills of seed {self.seed}", flush=True)
        worst = 0
        for path, count in (("/gallery/byteclub/day.md", self.kills - self.kills // 3), ("/notes/new", self.kills // 3)):
            typed, killed = [], None
            for number in range(count + 1):
                visitor = self.start(path)
                text = self.restored(visitor) if killed is not None else visitor.run(f"return find('{area}').value")
                if killed is not None:
                    worst = max(worst, self.lost(typed, killed, text, f"kill {number} in {path}"))
                if number == count:
                    visitor.close()
                    break
                typed, killed = self.type_until_killed(visitor, text)
        told(worst <= limit, f"at most {worst:.2f} s of typing were lost in {self.kills} kills")

    def start(self, path):
        """A browser with the profile, on the page with the editor open."""
        visitor = Visitor("ada", switches=("disable-gpu", f"user-data-dir={self.profile}"))
        visitor.command("Page.addScriptToEvaluateOnNewDocument", source="window.find = css => document.querySelector(css)")
        visitor.open(self.server.url + "/assets/logo.svg")
        visitor.call("POST", "/cookie", {"cookie": {"name": "byteclub", "value": self.session}})
        visitor.open(self.server.url + path)
        eventually("the editor is there", lambda: visitor.run("return !!find('.tools')"), visitor.text)
        return visitor

    def restored(self, visitor):
        """The text of the draft that is offered, or the page's own, where the browser lived for less than a second."""
        for _ in range(60):
            if visitor.run("return !!find('.draft button.primary')"):
                break
            time.sleep(0.05)
        return visitor.run(f"find('.draft button.primary')?.click(); return find('{area}').value")

    def type_until_killed(self, visitor, text):
        """Types at the end of the text until the browser is killed; what was typed by when, and when it was killed."""
        opened = "const details = find('details.edit'); if (details) details.open = true;"
        visitor.run(f"{opened} const area = find('{area}'); area.focus(); area.setSelectionRange(1e9, 1e9)")
        typed = [(0, text)]
        killer = threading.Timer(self.random.uniform(0.3, 4), self.kill)
        # A browser that is gone cannot be asked for its page when something fails.
        visitor.text = lambda: ""
        try:
            while True:
                word = self.random.choice(words) + self.random.choice(["\ue007", " ", ". "])
                for letter in word:
                    keys = [{"type": kind, "value": letter} for kind in ("keyDown", "keyUp")]
                    actions = [{"type": "key", "id": "keyboard", "actions": keys}]
                    visitor.call("POST", "/actions", {"actions": actions})
                    typed.append((time.monotonic(), typed[-1][1] + letter.replace("\ue007", "\n")))
                    if len(typed) == 2:
                        killer.start()
        except (Failed, OSError):
            killer.join()
        try:
            visitor.close()
        except (Failed, OSError):
            pass
        return typed, self.killed

    def kill(self):
        """Ends the browser and all that it has started, with no time for anything."""
        mine = {pid for pid in processes() if f"--user-data-dir={self.profile}" in command(pid)}
        parents = {pid: parent(pid) for pid in processes()}
        while more := {pid for pid, above in parents.items() if above in mine and pid not in mine}:
            mine |= more
        self.killed = time.monotonic()
        for pid in mine:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def lost(self, typed, killed, text, what):
        """How many seconds before the kill the text was typed that is there again."""
        known = [moment for moment, before in typed if before == text]
        whole = typed[-1][1]
        if not known and text.startswith(whole) and len(text) <= len(whole) + 1:
            # The last key has come, and its answer has not.
            known = [killed]
        told(known, f"{what}: what is there was typed", f"{text[-60:]!r} and not {whole[-60:]!r}")
        # What came after it is lost, and the first of that was typed with the next key.
        later = [moment for moment, before in typed if len(before) > len(text)]
        lost = max(0, killed - later[0]) if later else 0
        told(lost <= limit, f"{what}: {len(whole) - len(text)} letters of {lost:.2f} s are lost")
        return lost

    def close(self):
        self.server.close()
        shutil.rmtree(self.profile, ignore_errors=True)


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", metavar="DIR", type=pathlib.Path, default=project / ".build/release")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    Visitor.port = 9536
    driver = Visitor.start_driver()
    drafts = None
    try:
        drafts = Drafts(arguments.programs, arguments.kills, arguments.seed)
        drafts.check()
    except Failed as failure:
        sys.exit(f"drafts: {failure}")
    finally:
        if drafts:
            drafts.close()
        driver.terminate()
