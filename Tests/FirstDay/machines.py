"""Fresh machines of Debian, and who types into them."""

import codecs
import ctypes
import fcntl
import glob
import os
import pathlib
import pty
import re
import shutil
import socket
import struct
import subprocess
import termios
import threading
import time

import steps
from steps import told


class Machine:
    """A root of Debian with a name of its own and people who type into it."""

    def __init__(self, name, root):
        self.name, self.root = name, root
        (root / "etc/hostname").write_text(name + "\n")
        (root / "etc/hosts").write_text(f"127.0.0.1 localhost {name} club.example\n")

    def script(self, name, text):
        path = self.root / "usr/local/bin" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def person(self, name, **environment):
        return Person(self, name, environment)


class Typist:
    """Somebody at a terminal: has a machine, a name, a home, and the arguments by which a command gets there."""

    def start(self, command):
        """Types a command."""
        return Terminal(self, command)

    def run(self, command, code=0, seconds=120):
        """Types a command and waits for its end; what it has shown."""
        return self.start(command).end(code, seconds)

    def give(self, name, content):
        """Puts a file into the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Person(Typist):
    """Somebody at a terminal of a machine of their own: root, or a user."""

    def __init__(self, machine, name, environment):
        self.machine, self.name, user = machine, name, "root" if machine.name == "server" else name
        if user != "root":
            subprocess.run(["chroot", machine.root, "useradd", "-m", "-s", "/bin/bash", user], check=True)
        users = (machine.root / "etc/passwd").read_text().splitlines()
        entry = next(line for line in users if line.startswith(user + ":"))
        _, _, self.uid, self.gid, _, home, _ = entry.split(":")
        self.home = machine.root / home[1:]
        settings = dict(
            environment, HOME=home, USER=user, LANG="C.UTF-8", TERM="xterm", SHELL="/bin/bash",
            PATH="/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        self.arguments = [
            "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', machine.name,
            "chroot", f"--userspec=+{self.uid}:+{self.gid}", "--groups=", machine.root,
            "env", "-i", "-C", home, *(f"{key}={value}" for key, value in settings.items())]

    def give(self, name, content):
        """Puts a file into the home."""
        super().give(name, content)
        path = self.home / name
        while path != self.home:
            os.chown(path, int(self.uid), int(self.gid))
            path = path.parent


class Terminal:
    """A command in a terminal of 120 columns."""

    def __init__(self, person, command):
        self.title, self.began = f"{person.name}@{person.machine.name}$ {command}", time.monotonic()
        self.bytes, self.decoder = "", codecs.getincrementaldecoder("utf-8")("replace")
        self.screen, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            [*person.arguments, "bash", "-c", command], stdin=inside, stdout=inside, stderr=inside,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(inside)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                part = os.read(self.screen, 65_536)
            except OSError:
                break
            if not part:
                break
            self.bytes += self.decoder.decode(part)

    @property
    def text(self):
        """What stands on the screen: no colours or addresses behind links, and of a line that was written over its last
        state."""
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)", "", self.bytes).replace("\r\n", "\n")
        return "\n".join(line.rsplit("\r", 1)[-1].rstrip() for line in plain.split("\n"))

    def wait_for(self, pattern, seconds=60):
        """Waits until the screen has shown something."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.text)):
            if self.process.poll() is not None or time.monotonic() > end:
                told(False, self.title, f"no '{pattern}' in:\n{self.text}", self.began)
            time.sleep(0.02)
        return found

    def type(self, text):
        os.write(self.screen, text.encode())

    def end(self, code=0, seconds=120):
        """Waits for the end, prints the command as a step and returns what it has shown."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = f"none in {seconds} s"
        self.reader.join(2)
        if steps.keep:
            with open(steps.keep / "screens.txt", "a") as screens:
                screens.write(f"{self.title}\n{self.text}\n")
        told(status == code, self.title, f"exit {status} in place of {code}:\n{self.text}", self.began)
        return self.text


def make_root(work, suite):
    """A fresh root of Debian."""
    lists = glob.glob("/etc/apt/sources.list") + glob.glob("/etc/apt/sources.list.d/*")
    known = re.search(r"https?://\S+/debian/?(?=\s)", "".join(pathlib.Path(path).read_text() for path in lists))
    mirror = os.environ.get("BYTECLUB_DEBIAN_MIRROR") or (known[0] if known else "http://deb.debian.org/debian")
    root, began = work / "debian", time.monotonic()
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", suite, root, mirror],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told(made.returncode == 0, f"a fresh root of {suite}", made.stdout[-1_000:], began)
    if os.path.exists("/etc/resolv.conf"):
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    for path in glob.glob("/etc/apt/apt.conf.d/*proxy*"):
        shutil.copy(path, root / "etc/apt/apt.conf.d")
    (root / "etc/apt/apt.conf.d/first-day").write_text('APT::Get::Assume-Yes "true";\n')
    return root


def copy_root(debian, root, package):
    """A machine's root: a copy of a fresh one with a package in the home of its root."""
    subprocess.run(["cp", "-a", debian, root], check=True)
    subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)
    subprocess.run(["mount", "--bind", "/dev/pts", root / "dev/pts"], check=True)
    shutil.copy(package, root / "root")


def apt(root, line):
    """Installs as root in its home."""
    settings = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "HOME=/root"]
    began = time.monotonic()
    done = subprocess.run(
        ["chroot", root, "env", "-i", "-C", "/root", *settings, "sh", "-c", line],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told(done.returncode == 0, f"root@{root.name}# {line}", done.stdout[-1_000:], began)


def leave_network():
    """Goes to a network that has nothing but this machine."""
    if ctypes.CDLL(None).unshare(0x40000000) != 0:  # CLONE_NEWNET
        raise OSError("there is no network namespace to be had")
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0x1)  # IFF_UP
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS
