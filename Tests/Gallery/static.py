"""Pages with one viewer each, served as the server serves its own: same files, same policy."""

import html
import http.server
import io
import pathlib
import threading

project = pathlib.Path(__file__).resolve().parents[2]
templates = project / "Sources/ByteClubServer/Web/Templates"

policy = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class StaticSite:
    """Serves test panoramas, by name, on a port of its own."""

    def __init__(self):
        self.pages, self.pictures = {}, {}
        # What was asked for, in order.
        self.asked = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                kind, body = site.answer(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Security-Policy", policy)
                self.send_header("X-Content-Type-Options", "nosniff")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def add(self, name, picture, kind, alt="", **attributes):
        """A page /NAME with a picture, of which renditions, and tiles if wanted, are made as the server makes them."""
        width, height = picture.size
        for size in (2048, 4096):
            made = picture.copy()
            made.thumbnail((size, size))
            self.pictures[f"/photos/{name}/{size}.jpg"] = encoded(made)
        side = attributes.get("tiles")
        for top in range(0, height, side) if side else ():
            for left in range(0, width, side):
                tile = picture.crop((left, top, min(left + side, width), min(top + side, height)))
                self.pictures[f"/photos/{name}/tiles/{left // side}-{top // side}.jpg"] = encoded(tile)
        data = {"kind": kind, "width": width, "height": height, "base": f"/photos/{name}/", **attributes}
        words = " ".join(f'data-{key.replace("_", "-")}="{html.escape(str(value))}"' for key, value in data.items())
        self.pages[f"/{name}"] = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><link rel="stylesheet" href="/assets/style.css"><link rel="stylesheet" href="/assets/viewer.css"></head>
<body><main><p><a href="#before">Before</a></p>
<figure class="viewer" {words}><a href="/photos/{name}/original.jpg"><img src="/photos/{name}/2048.jpg"
srcset="/photos/{name}/2048.jpg 2048w, /photos/{name}/4096.jpg 4096w" sizes="100vw" width="{width}" height="{height}"
alt="{html.escape(alt)}"></a><figcaption>{html.escape(alt)}</figcaption></figure>
<p><a href="#after">After</a></p></main><script type="module" src="/assets/viewer.js"></script></body></html>"""

    def rendition(self, name, size):
        return io.BytesIO(self.pictures[f"/photos/{name}/{size}.jpg"])

    def answer(self, path):
        path = path.partition("?")[0]
        self.asked.append(path)
        if path in self.pages:
            return "text/html; charset=utf-8", self.pages[path].encode()
        if path in self.pictures:
            return "image/jpeg", self.pictures[path]
        file = templates / path[1:]
        kinds = {".js": "text/javascript", ".css": "text/css"}
        if file.suffix in kinds and file.parent == templates and file.exists():
            return kinds[file.suffix], file.read_bytes()
        return "text/plain", None


def encoded(picture):
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=90)
    return data.getvalue()
