"""What members do in a browser, by what is written on labels and buttons; and a browser for who has no Chromium."""

import html.parser
import http.cookiejar
import ssl
import urllib.error
import urllib.parse
import urllib.request

from steps import eventually, told

# Of everybody who joins.
password = "seven by the car park"


class Visitor:
    """Somebody at the club's pages; how pages are opened and filled in is another's to say."""

    def sees(self, text, picture):
        eventually(f"{self.name} sees '{text}'", lambda: text in self.text(), self.text, 20)
        self.photograph(picture)

    def photograph(self, name):
        """Keeps a picture of the page, where there are pictures."""

    def join(self, link):
        """Joins the club by an invitation."""
        self.register(link)
        self.sees("Add this machine", "has joined")
        self.open(urllib.parse.urljoin(link, "/account"))
        self.sees("Add a machine", "sees the account")
        text = self.text()
        told("byteclub login https://club.example:8443" in text, "the page has the line to sign in with", text)

    def join_and_allow(self, link):
        """Joins by an invitation behind which a program waits, and lets the program in."""
        self.register(link)
        self.decide()

    def register(self, link):
        """Fills in the form of an invitation."""
        self.open(link)
        self.sees("Join the club", "is invited")
        self.fill("Name", self.name)
        self.fill("Password", password)
        self.click("Join")

    def allow(self, page):
        """Lets a program in; where the program shows a code, that is typed first."""
        page, _, code = page.partition(" ")
        self.open(page)
        if code:
            self.sees("Code", "is asked for the code")
            self.fill("Code", code)
            self.click("Continue")
        self.decide()

    def decide(self):
        self.sees("Allow ByteClub?", "is asked")
        self.click("Allow")

    def reset(self, link, secret):
        """Chooses another password, by the link that an owner has made."""
        self.open(link)
        self.sees("New password", "may choose a password")
        self.fill("New password", secret)
        self.click("Set password")
        self.sees("Add a machine", "has another password")

    def sign_in(self, site, secret):
        """Signs in on the way to the account."""
        self.open(site + "/account")
        self.fill("Name", self.name)
        self.fill("Password", secret)
        self.click("Sign in")

    def leave(self, site):
        """Leaves the club for good."""
        self.open(site + "/account")
        self.unfold("Leave")
        self.click("Leave this club")
        self.sees("You have left the club", "has left")


class Pages(Visitor):
    """A browser without scripts or pictures: it knows links, forms and cookies, which is all that the pages ask for."""

    def __init__(self, name):
        self.name, self.page = name, Page("")
        untrusting = ssl.create_default_context()
        untrusting.check_hostname, untrusting.verify_mode = False, ssl.CERT_NONE
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
            urllib.request.HTTPSHandler(context=untrusting))

    def open(self, url):
        print(f"               {self.name} opens {url}", flush=True)
        self.load(url)

    def load(self, url, fields=None):
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        request = urllib.request.Request(url, data)
        if data is not None:
            request.add_header("Origin", "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url)))
        try:
            answer = self.opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            self.url, self.page = answer.geturl(), Page(answer.read().decode())

    def text(self):
        return self.page.text

    def fill(self, label, text):
        form, name = next(
            (form, name) for form in self.page.forms for name, words in form.labels.items() if words.startswith(label))
        form.fields[name] = text

    def unfold(self, summary):
        """Nothing: what is folded is in the page all the same."""

    def click(self, button):
        form, more = next(
            (form, more) for form in self.page.forms for words, more in form.buttons if words == button)
        self.load(urllib.parse.urljoin(self.url, form.action), {**form.fields, **more})


class Form:
    """A form of a page: where it goes, what is in it, and what its labels and buttons say."""

    def __init__(self, action):
        self.action, self.fields, self.labels, self.buttons = action, {}, {}, []


class Page(html.parser.HTMLParser):
    """The text of a page, and its forms."""

    def __init__(self, source):
        super().__init__()
        self.parts, self.forms, self.words, self.field, self.more = [], [], None, None, {}
        self.in_head = False
        self.feed(source)
        self.text = " ".join("".join(self.parts).split())

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        self.in_head = tag in ("head", "title", "meta", "link")
        if tag == "form":
            self.forms.append(Form(attributes.get("action", "")))
        elif tag in ("label", "button"):
            self.words, self.field = "", None
            self.more = {attributes["name"]: attributes.get("value", "")} if "name" in attributes else {}
        elif tag in ("input", "textarea") and self.forms and "name" in attributes:
            self.field = attributes["name"]
            self.forms[-1].fields[self.field] = attributes.get("value", "")

    def handle_endtag(self, tag):
        if tag == "label" and self.forms and self.field:
            self.forms[-1].labels[self.field] = self.words.strip()
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append((self.words.strip(), self.more))
        if tag in ("label", "button"):
            self.words = None

    def handle_data(self, data):
        if not self.in_head:
            self.parts.append(data)
        if self.words is not None:
            self.words += data
