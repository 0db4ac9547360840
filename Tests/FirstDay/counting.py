"""Photos of any size, and a way to the server on which bytes are counted."""

import pathlib
import random
import socket
import threading

panoramas = pathlib.Path(__file__).resolve().parents[2] / "Fixtures/panoramas"


def photo(size, seed):
    """A JPEG of so many bytes: a panorama with as many comments in it as that takes, of bytes that no other has."""
    city, noise = (panoramas / "city.jpg").read_bytes(), random.Random(seed)
    comments, missing = b"", size - len(city)
    while missing > 4:
        length = min(missing - 4, 65_533)
        comments += b"\xff\xfe" + (length + 2).to_bytes(2, "big") + noise.randbytes(length)
        missing -= length + 4
    return city[:2] + comments + city[2:]


class Counter:
    """A way to a server's port that counts what goes up."""

    def __init__(self, port):
        self.up, self.server = 0, port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.server))
            for source, target, counts in ((near, far, True), (far, near, False)):
                threading.Thread(target=self.copy, args=(source, target, counts), daemon=True).start()

    def copy(self, source, target, counts):
        """Copies until one side ends, and ends the other; one thread alone counts for each connection."""
        try:
            while part := source.recv(65_536):
                if counts:
                    self.up += len(part)
                target.sendall(part)
        except OSError:
            pass
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
