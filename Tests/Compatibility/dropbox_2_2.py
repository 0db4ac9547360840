"""Runs the official Dropbox Core API v1 SDK for Python (dropbox 2.2.0) against a server, one line for each checked call.

usage: dropbox_2_2.py HOST:PORT CERTIFICATE PHOTO < credentials
Credentials come as lines NAME=VALUE on standard input: token, oauth_consumer_key, oauth_consumer_secret, oauth_token,
oauth_token_secret. Nothing of the SDK is changed but the names of its hosts and the certificate that it trusts.
"""

import io
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request

import urllib3
from dropbox import client, rest, session

HOST, CERTIFICATE, PHOTO = sys.argv[1:4]
KEYS = dict(line.strip().split("=", 1) for line in sys.stdin if "=" in line)
TRUST = ssl.create_default_context(cafile=CERTIFICATE)

for name in ("API_HOST", "WEB_HOST", "API_CONTENT_HOST", "API_NOTIFICATION_HOST"):
    setattr(session.BaseSession, name, HOST)
rest.RESTClient.IMPL.pool_manager = urllib3.PoolManager(
    num_pools=4, maxsize=8, timeout=60.0, cert_reqs=ssl.CERT_REQUIRED, ca_certs=CERTIFICATE)

failures = checks = 0


def check(what, condition, seen=None):
    global failures, checks
    checks += 1
    if not condition:
        failures += 1
    print(("ok    " if condition else "FAIL  ") + what + ("" if condition else f": {seen!r}"), flush=True)


def refused(status, phrase, call, *arguments, **named):
    """Tells whether a call is refused with a status and with a phrase in the error's text."""
    try:
        call(*arguments, **named)
    except rest.ErrorResponse as error:
        return error.status == status and phrase in str(error.error_msg), (error.status, error.error_msg)
    return False, "no refusal"


def fetch(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, context=TRUST) as answer:
        return answer.status, answer.headers, answer.read()


def common(dropbox, label, place):
    """What every client does, in a folder of its own."""
    account = dropbox.account_info()
    check(f"{label}: account_info", isinstance(account["uid"], int) and account["quota_info"]["quota"] > 0, account)
    made = dropbox.file_create_folder(place)
    check(f"{label}: file_create_folder", made["is_dir"] and made["path"] == place, made)
    check(f"{label}: create_folder again is 403", *refused(403, "", dropbox.file_create_folder, place))

    name = place + "/Trip ~-_'é #1+%.md"
    stored = dropbox.put_file(name, b"Tuesday: rain")
    check(f"{label}: put_file of bytes", stored["path"] == name and stored["bytes"] == 13, stored)
    check(f"{label}: mime_type, icon, size", (stored["mime_type"], stored["icon"], stored["size"])
          == ("text/markdown", "page_white_text", "13 bytes"), stored)
    numbered = dropbox.put_file(name, b"other")
    check(f"{label}: put_file without overwrite is numbered", numbered["path"].endswith("%. (1).md") is False
          and " (1).md" in numbered["path"], numbered)
    replaced = dropbox.put_file(name, b"Tuesday: sun", overwrite=True)
    check(f"{label}: put_file with overwrite", replaced["path"] == name and replaced["rev"] != stored["rev"], replaced)
    stale = dropbox.put_file(name, b"Tuesday: snow", parent_rev=stored["rev"])
    check(f"{label}: put_file with a stale parent_rev", "(conflicted copy)" in stale["path"], stale)
    with open(PHOTO, "rb") as photo:
        picture = dropbox.put_file(place + "/ridge.jpg", photo.read())
    check(f"{label}: put_file of a photo", picture["thumb_exists"] and picture["icon"] == "page_white_picture", picture)
    check(f"{label}: a file object on Python 3 is chunked and 411",
          *refused(411, "", dropbox.put_file, place + "/x", io.BufferedReader(io.BytesIO(b"abc"))))

    with dropbox.get_file(name) as answer:
        body = answer.read()
    check(f"{label}: get_file", body == b"Tuesday: sun", body)
    with dropbox.get_file(name, rev=stored["rev"]) as answer:
        body = answer.read()
    check(f"{label}: get_file of a rev", body == b"Tuesday: rain", body)
    with dropbox.get_file(name, start=9, length=3) as answer:
        body, status = answer.read(), answer.status
    check(f"{label}: get_file of a range", (status, body) == (206, b"sun"), (status, body))
    answer, told = dropbox.get_file_and_metadata(name)
    answer.close()
    check(f"{label}: get_file_and_metadata", told["path"] == name and told["rev"] == replaced["rev"], told)
    check(f"{label}: get_file of nothing is 404", *refused(404, "not found", dropbox.get_file, place + "/none"))

    folder = dropbox.metadata(place)
    check(f"{label}: metadata of a folder", len(folder["contents"]) == 4 and "hash" in folder, folder)
    check(f"{label}: metadata with its hash is 304", *refused(304, "", dropbox.metadata, place, hash=folder["hash"]))
    check(f"{label}: metadata over file_limit is 406", *refused(406, "", dropbox.metadata, place, file_limit=2))
    told = dropbox.metadata(place + "/ridge.jpg", include_media_info=True)
    check(f"{label}: metadata with media info", told.get("photo_info", {}).get("lat_long") == [50.6089, 6.4381], told)
    told = dropbox.metadata(name, list=False)
    check(f"{label}: metadata of a file", "hash" not in told and told["client_mtime"] == told["modified"], told)
    check(f"{label}: metadata of nothing is 404", *refused(404, "not found", dropbox.metadata, place + "/none"))

    small, large = dropbox.thumbnail(place + "/ridge.jpg", "xs"), dropbox.thumbnail(place + "/ridge.jpg", "large", "PNG")
    small, large = small.read(), large.read()
    check(f"{label}: thumbnail", small[:2] == b"\xff\xd8" and large[:4] == b"\x89PNG" and len(large) > len(small), "")
    answer, told = dropbox.thumbnail_and_metadata(place + "/ridge.jpg")
    answer.close()
    check(f"{label}: thumbnail_and_metadata", told["path"] == place + "/ridge.jpg", told)
    check(f"{label}: thumbnail of a note is 404", *refused(404, "", dropbox.thumbnail, name))

    found = dropbox.search(place, "trip ~-_")
    check(f"{label}: search", len(found) == 3 and all(not entry["is_dir"] for entry in found), found)
    check(f"{label}: search ignores accents", len(dropbox.search(place, "'E")) == 3, "")
    check(f"{label}: an empty query is 400", *refused(400, "", dropbox.search, place, ""))

    copied = dropbox.file_copy(name, place + "/below/copy.md")
    check(f"{label}: file_copy", copied["path"] == place + "/below/copy.md", copied)
    check(f"{label}: file_copy onto something is 403", *refused(403, "", dropbox.file_copy, name, copied["path"]))
    moved = dropbox.file_move(copied["path"], place + "/moved.md")
    check(f"{label}: file_move", moved["path"] == place + "/moved.md", moved)
    check(f"{label}: the old path is deleted", dropbox.metadata(copied["path"])["is_deleted"], "")
    check(f"{label}: a folder into itself is 403", *refused(403, "", dropbox.file_move, place, place + "/below/x"))
    reference = dropbox.create_copy_ref(place + "/ridge.jpg")
    again = dropbox.add_copy_ref(reference["copy_ref"], place + "/again.jpg")
    check(f"{label}: copy_ref", again["bytes"] == picture["bytes"] and "/" not in reference["copy_ref"], again)

    gone = dropbox.file_delete(name)
    check(f"{label}: file_delete", gone["is_deleted"] and gone["bytes"] == 0, gone)
    check(f"{label}: file_delete of nothing is 404", *refused(404, "not found", dropbox.file_delete, place + "/none"))
    history = dropbox.revisions(name)
    check(f"{label}: revisions", [entry.get("is_deleted", False) for entry in history] == [True, False, False], history)
    restored = dropbox.restore(name, stored["rev"])
    check(f"{label}: restore", restored["bytes"] == 13 and restored["rev"] not in (stored["rev"], gone["rev"]), restored)
    check(f"{label}: restore of a malformed rev is 400", *refused(400, "", dropbox.restore, name, "xyz"))

    share = dropbox.share(name)
    status, headers, body = fetch(share["url"])
    check(f"{label}: share is a page", status == 200 and headers["Content-Type"].startswith("text/html"), share)
    check(f"{label}: share with dl=1", fetch(share["url"] + "?dl=1")[2] == b"Tuesday: rain", share)
    check(f"{label}: share again is the same", dropbox.share(name, short_url=False)["url"] == share["url"], share)
    media = dropbox.media(place + "/ridge.jpg")
    status, headers, body = fetch(media["url"], Range="bytes=0-1")
    check(f"{label}: media", (status, body) == (206, b"\xff\xd8"), (status, body))


def chunks(dropbox, label, place):
    """The chunked uploader, also after the server refused an offset."""
    content = bytes(range(256)) * 1500
    uploader = dropbox.get_chunked_uploader(io.BytesIO(content), len(content))
    offset, upload = dropbox.upload_chunk(content[:100_000], 100_000)
    check(f"{label}: upload_chunk", offset == 100_000, offset)
    wrong, told = refused(400, "got [5] expected [100000]", dropbox.upload_chunk, b"x", 1, 5, upload)
    check(f"{label}: a chunk at the wrong place", wrong, told)
    check(f"{label}: an unknown upload is 404", *refused(404, "", dropbox.upload_chunk, b"x", 1, 5, "unknown"))
    uploader.offset, uploader.upload_id = offset, upload
    uploader.last_block = None
    position = offset
    while position < len(content):
        position, upload = dropbox.upload_chunk(content[position:position + 100_000], 100_000, position, upload)
    uploader.offset, uploader.upload_id = position, upload
    done = uploader.finish(place + "/large.bin", overwrite=True)
    check(f"{label}: ChunkedUploader.finish", done["bytes"] == len(content), done)
    with dropbox.get_file(place + "/large.bin") as answer:
        check(f"{label}: the chunks are the file", answer.read() == content, "")
    path = f"/commit_chunked_upload/auto{place}/large.bin"
    url, params, headers = dropbox.request(path, {"upload_id": upload}, content_server=True)
    check(f"{label}: a second commit", *refused(400, "already completed", rest.RESTClient.POST, url, params, headers))


def changes(dropbox, label, place):
    """Delta and the long poll."""
    page = dropbox.delta()
    keys = [entry[0] for entry in page["entries"]]
    check(f"{label}: delta", page["reset"] and not page["has_more"] and place.lower() in keys, keys)
    check(f"{label}: delta has no null at first", all(entry[1] for entry in page["entries"]), "")
    again = dropbox.delta(page["cursor"])
    check(f"{label}: delta from a cursor", not again["reset"] and not again["entries"], again)
    below = dropbox.delta(path_prefix=place + "/below")
    check(f"{label}: delta of a prefix", [entry[0] for entry in below["entries"]] == [place.lower() + "/below"], below)
    told = dropbox.delta(include_media_info=True)
    infos = [entry[1]["photo_info"] for entry in told["entries"] if entry[0].endswith("ridge.jpg")]
    check(f"{label}: delta with media info", infos and all("time_taken" in info for info in infos), infos)
    check(f"{label}: delta of a bad cursor is 400", *refused(400, "", dropbox.delta, "nonsense"))

    waiting = {}
    poll = threading.Thread(target=lambda: waiting.update(dropbox.longpoll_delta(again["cursor"], timeout=30)))
    poll.start()
    time.sleep(0.3)
    started = time.monotonic()
    dropbox.put_file(place + "/wake.md", b"up")
    poll.join(20)
    check(f"{label}: longpoll_delta wakes", waiting.get("changes") is True and time.monotonic() - started < 5, waiting)
    check(f"{label}: longpoll_delta of a bad cursor is 400", *refused(400, "", dropbox.longpoll_delta, "nonsense"))
    page = dropbox.delta(again["cursor"])
    check(f"{label}: delta tells what woke it", [entry[0] for entry in page["entries"]] == [place.lower() + "/wake.md"],
          page)
    gone = dropbox.file_delete(place)
    check(f"{label}: a folder is deleted with all in it", gone["is_dir"] and gone["is_deleted"], gone)
    nulls = [entry for entry in dropbox.delta(page["cursor"])["entries"] if entry[1] is None]
    check(f"{label}: delta tells it as null", [place.lower(), None] in nulls, nulls)


bearer = client.DropboxClient(KEYS["token"], locale="pt-BR")
common(bearer, "OAuth 2", "/Bearer:Folder")
chunks(bearer, "OAuth 2", "/Bearer:Folder")
changes(bearer, "OAuth 2", "/Bearer:Folder")

# 'dropbox' and not 'auto', which OAuth 1 apps of that time asked for.
signed = session.DropboxSession(KEYS["oauth_consumer_key"], KEYS["oauth_consumer_secret"], "dropbox")
signed.set_token(KEYS["oauth_token"], KEYS["oauth_token_secret"])
plain = client.DropboxClient(signed)
common(plain, "OAuth 1", "/Signed")
chunks(plain, "OAuth 1", "/Signed")
changes(plain, "OAuth 1", "/Signed")

wrong = session.DropboxSession(KEYS["oauth_consumer_key"], "wrong", "dropbox")
wrong.set_token(KEYS["oauth_token"], KEYS["oauth_token_secret"])
check("OAuth 1: a wrong secret is 401", *refused(401, "", client.DropboxClient(wrong).account_info))
box = session.DropboxSession(KEYS["oauth_consumer_key"], KEYS["oauth_consumer_secret"], "app_folder")
box.set_token(KEYS["oauth_token"], KEYS["oauth_token_secret"])
check("OAuth 1: the root of an app folder is 400", *refused(400, "", client.DropboxClient(box).metadata, "/"))
token = plain.create_oauth2_access_token()
check("OAuth 1: create_oauth2_access_token", client.DropboxClient(token).account_info()["uid"] > 0, token[:4])
plain.disable_access_token()
check("OAuth 1: a disabled token is 401", *refused(401, "", plain.account_info))
bearer.disable_access_token()
check("OAuth 2: a disabled token is 401", *refused(401, "", bearer.account_info))
check("OAuth 2: an unknown token is 401", *refused(401, "", client.DropboxClient("0" * 64).account_info))

print(f"{checks} checks, {failures} failures")
sys.exit(1 if failures else 0)
