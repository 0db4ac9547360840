"""A server of a club on this machine, and members who use it by `byteclub` and by plain requests."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from steps import Failed, told

# Of every member.
password = "seven by the car park"


class Server:
    """`byteclub-server` with data of its own, which goes with it."""

    def __init__(self, programs, *options):
        for name in ("byteclub", "byteclub-server"):
            told(
                (programs / name).exists(),
                f"{programs / name} is there",
                "build it with Config/build, or say --programs",
            )
        self.programs = programs
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="byteclub-gallery-"))
        self.log = open(self.work / "log", "w+")
        self.process = subprocess.Popen(
            [programs / "byteclub-server", "--data", self.work / "data", "--listen", "127.0.0.1:0", *options],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        line = self.process.stdout.readline()
        told("listening on" in line, "the server listens", line)
        self.url = line.split()[-1]

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.seek(0)
        errors = [line for line in self.log if " error " in line or " critical " in line]
        self.log.close()
        shutil.rmtree(self.work)
        told(not errors, "the server's log has no error", "".join(errors))

    def member(self, name, role="editor"):
        return Member(self, name, role)


class Member:
    """Somebody with an account, a home and a token."""

    def __init__(self, server, name, role):
        self.server, self.name = server, name
        self.home = server.work / name
        self.home.mkdir()
        data = str(server.work / "data")
        self.token = ""
        self.token = json.loads(self.run("members", "add", name, "--data", data, "--role", role, "--json"))["token"]
        self.run("members", "password", name, "--data", data, given=password + "\n")

    def run(self, *arguments, given="", code=0):
        """What `byteclub` prints to this member."""
        environment = dict(os.environ, HOME=str(self.home), BYTECLUB_SERVER=self.server.url, BYTECLUB_TOKEN=self.token)
        done = subprocess.run(
            [self.server.programs / "byteclub", *map(str, arguments)],
            input=given,
            env=environment,
            capture_output=True,
            text=True,
            cwd=self.home,
            timeout=600,
        )
        if done.returncode != code:
            raise Failed(f"byteclub {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def write(self, path, text):
        """Puts a note where it is, or is not yet."""
        file = self.home / "note.md"
        file.write_text(text)
        self.run("notes", "add", path, file, "--force")

    def share(self, path, **terms):
        """A link by the protocol's own call, which knows terms that `byteclub` may not."""
        request = urllib.request.Request(
            f"{self.server.url}/1/shares/dropbox/byteclub/{urllib.parse.quote(path)}",
            urllib.parse.urlencode({"short_url": "false", **terms}).encode(),
            {"Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["url"]

    def put(self, path, content, modified=None):
        """Puts a file to the server, and returns the moment right before its last byte was sent, in ms since 1970."""
        query = "?client_mtime=" + urllib.parse.quote(modified) if modified else ""
        address = urllib.parse.urlsplit(self.server.url)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.putrequest("PUT", "/1/files_put/dropbox/byteclub/" + urllib.parse.quote(path) + query)
        connection.putheader("Authorization", f"Bearer {self.token}")
        connection.putheader("Content-Length", str(len(content)))
        connection.endheaders()
        connection.send(content[:-1])
        last = time.time() * 1000
        connection.send(content[-1:])
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise Failed(f"PUT of {path}: {answer.status} {body[:200]}")
        return last
