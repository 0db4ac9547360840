"""Every page of the club: axe finds nothing, the policy refuses nothing, the console is empty, nobody else is asked."""

import pathlib

from club import Club, fetched, fixtures, items, settle
from steps import told

run_axe = """
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(each => each.nodes.map(node => {
      const [reason] = node.any.concat(node.all, node.none).map(check => check.message);
      return `${each.impact} ${each.id}: ${node.target.join(" ")} ${reason}`;
    }));"""


class Axe(Club):
    steps = ("members", "guests", "phones")

    def __init__(self, programs):
        self.axe = (pathlib.Path(fetched("axe")) / "axe.min.js").read_text()
        super().__init__(programs)

    def found(self):
        super().found()
        self.put_many(30)
        self.bo.put("photos/sunrise.jpg", (fixtures / "sunset.jpg").read_bytes())
        self.ada.run("photos", "rm", "city.jpg")
        self.bo.put("gear.md", b"# Gear\n\nA rope.\n")
        self.ada.put("photos/forest.jpg.md", b"Left at the crossing\n\nat 40,-5: [to the yard](courtyard.jpg)\n")
        self.ada.put(
            "Trip/story.md",
            b"# A day\n\nFirst\n\n![Forest](../photos/forest.jpg)\n\nthen\n\n" b"![Portrait](../photos/portrait.jpg)\n",
        )
        self.invitation = self.ada.run(
            "members", "invite", "--data", self.server.work / "data", "--url", self.server.url
        )

    def pages(self):
        """The addresses of members' pages, and what is opened on them before axe looks."""
        history = "/notes/history/byteclub/gear.md"
        return {
            "/gallery": ("", ".filter > summary", ".account > summary"),
            "/gallery?show=panoramas&from=2023-01&to=2024-12": ("",),
            "/gallery?q=zebra": ("",),
            "/albums": ("",),
            "/albums/byteclub/photos/Dolomites": ("",),
            items
            + "photos/forest.jpg": (
                "",
                ".over summary[aria-label=Share]",
                ".over summary[aria-label=Delete]",
                "#about",
                "#help",
            ),
            items + "photos/portrait.jpg": ("", "#info details:nth-of-type(1) > summary"),
            items + "photos/sunrise.jpg": ("#info details:last-of-type > summary",),
            items + "photos/city.jpg": ("",),
            "/notes": ("",),
            "/notes/new": ("", ".tools .apart"),
            items + "Trip/plan.md": ("", "details.edit > summary", ".note-actions .menu > summary"),
            history: ("",),
            "/add": ("",),
            "/activity": ("",),
            "/account": ("", "main details > summary"),
            "/members": ("", "main details > summary"),
            "/password": ("",),
            "/device": ("",),
            "/nowhere": ("",),
        }

    def look(self, visitor, what, shifts=False):
        """Has axe look at the page as it is, in light and in dark."""
        for dark in (False, True):
            visitor.dark(dark)
            settle(visitor)
            found = visitor.run(self.axe + run_axe)
            told(
                found == [], f"axe finds nothing on {what}{' in the dark' if dark else ''}", "\n".join(map(str, found))
            )
        visitor.dark(False)

    def each(self, visitor, paths, where=""):
        for path, openings in paths.items():
            for opening in openings:
                self.page(visitor, path)
                settle(visitor)
                if opening and not visitor.has(opening):
                    visitor.run("document.querySelector('.photo')?.classList.add('with-info')")
                if opening:
                    if not visitor.has(opening):
                        continue
                    visitor.press_button(opening)
                    settle(visitor)
                self.look(visitor, f"{path} {opening}{where}")
                visitor.photograph(f"{path.strip('/').replace('/', '-')[:40]} {opening[:30].replace('/', '-')}{where}")
            self.fits(visitor, path + where)
            refusals = ("404", "410") if path in ("/nowhere", items + "photos/city.jpg") else ()
            self.honest(visitor, path + where, shifts=False, refusals=refusals)

    def members(self):
        visitor = self.visitor(self.ada)
        self.each(visitor, self.pages())
        self.timeline(visitor)
        visitor.focus("#days a.tile:not(.line)")
        visitor.press("x")
        self.look(visitor, "a selection")
        if visitor.has(".selection button[title='Move to album']"):
            visitor.press_button(".selection button[title='Move to album']")
            self.look(visitor, "the question for an album")
        visitor.close()

    def guests(self):
        guest = self.browser("guest")
        invitation = next(word.strip('",') for word in self.invitation.split() if "/invite/" in word)
        links = {
            "a photo's link": self.link("photos/forest.jpg"),
            "a folder's link": self.link("photos"),
            "a note's link": self.link("Trip/story.md"),
            "a locked link": self.ada.share("photos/partial.jpg", password="seven geese"),
            "a dead link": self.server.url + "/s/nowhere",
            "the sign-in": self.server.url + "/login",
            "an invitation": invitation,
            "a dead invitation": self.server.url + "/invite/nowhere",
        }
        for name, link in links.items():
            guest.open(link)
            settle(guest)
            self.look(guest, name)
            guest.photograph(f"sees {name}")
            self.fits(guest, name)
            self.honest(
                guest, name, shifts=False, refusals=("404", "410", "403") if "dead" in name or "locked" in name else ()
            )
        guest.close()

    def phones(self):
        if self.browser.is_firefox:
            return
        visitor = self.visitor(self.ada, phone=True)
        self.each(visitor, {path: openings[:1] for path, openings in self.pages().items()}, " on a phone")
        visitor.close()
