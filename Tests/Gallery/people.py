"""Members: joining, the first page, the account, roles, links, activity; and who is shut out."""

import re

from club import Club, items, settle
from server import password
from steps import eventually, told


class People(Club):
    steps = ("joining", "account", "inviting", "roles", "links", "activity", "leaving")

    def invitation(self, role="editor"):
        printed = self.ada.run(
            "members", "invite", "--data", self.server.work / "data", "--url", self.server.url, "--role", role
        )
        return re.search(r"http\S+/invite/\S+", printed).group()

    def joined(self, name, role="editor", **options):
        """A browser in which somebody has joined by an invitation."""
        visitor = self.browser(name, **options)
        visitor.open(self.invitation(role))
        visitor.fill("Name", name)
        visitor.fill("Password", password)
        visitor.click("Join")
        visitor.see(f"{name} has joined", "return !location.pathname.startsWith('/invite')")
        return visitor

    def joining(self):
        """An invitation leads into the gallery, with a card that says what there is to do, until it is dismissed."""
        visitor = self.joined("cy")
        told(
            visitor.address().startswith(("/gallery", "/")) and "account" not in visitor.address(),
            "who joins lands in the gallery",
            visitor.address(),
        )
        visitor.see("the photos are there", "return !!document.querySelector('#days a[href]')")
        told(visitor.has(".welcome"), "with a card of welcome", visitor.text())
        words = visitor.reads(".welcome")
        told("byteclub" not in words.lower().replace("byteclub.", ""), "which names no command", words)
        visitor.photograph("has joined")
        self.honest(visitor, "the first page", shifts=False)
        visitor.press_button(".welcome button")
        visitor.see("it can be dismissed", "return !document.querySelector('.welcome')")
        self.page(visitor, "/gallery")
        told(not visitor.has(".welcome"), "for good")
        visitor.close()

    def account(self):
        """The account's page: the line for a machine stays, also after the first one."""
        visitor = self.visitor(self.bo)
        self.page(visitor, "/account")
        told(
            "byteclub login " + self.server.url in visitor.text(),
            "the line for another machine is there",
            visitor.text(),
        )
        self.page(visitor, "/password")
        fields = visitor.run(
            "return [...document.querySelectorAll('main input[type=password]')].map(each => each.name)"
        )
        told(len(fields) >= 2, "a password can be changed, by who knows the old one", fields)
        visitor.close()

    def inviting(self):
        visitor = self.visitor(self.ada)
        self.page(visitor, "/members")
        visitor.press_button("button[value=invite]")
        link = visitor.see("an owner gets a link", "return document.querySelector('.notice code')?.textContent")
        guest = self.browser("guest")
        guest.open(link)
        told("You are invited as an editor" in guest.text(), "which says as what one is invited", guest.text())
        guest.close()
        self.page(visitor, "/members")
        visitor.press_button("button[value=uninvite]")
        guest = self.browser("guest")
        guest.open(link)
        told("You are invited" not in guest.text(), "and leads nowhere once it is revoked", guest.text())
        guest.close()
        visitor.close()

    def roles(self):
        """A menu for each member; a role counts at once."""
        other = self.joined("di")
        visitor = self.visitor(self.ada)
        self.page(visitor, "/members")
        place = visitor.run("""
            const rows = [...document.querySelectorAll(".list li")];
            return rows.findIndex(each => each.querySelector("b")?.innerText === "di");""")
        row = f".list li:nth-of-type({place + 1})"
        visitor.press_button(f"{row} details.menu > summary")
        visitor.run("document.querySelector(args[0]).value = 'viewer'", f"{row} select[name=role]")
        visitor.photograph("sets a role")
        visitor.press_button(f"{row} button[value=role]")
        visitor.see(
            "an owner sets a role",
            """
            return [...document.querySelectorAll(".list li")].some(each =>
              each.innerText.startsWith("D") && /\\bdi\\b/.test(each.innerText) && /viewer/.test(each.innerText));""",
        )
        self.page(other, "/gallery")
        settle(other)
        told(not other.has(".bar .add"), "which counts from the next page on", other.text())
        other.close()
        self.page(visitor, "/members")
        visitor.press_button(f"{row} details.menu > summary")
        visitor.press_button(f"{row} details.menu details summary")
        visitor.press_button(f"{row} button[value=remove]")
        visitor.see(
            "and removes a member", "return ![...document.querySelectorAll('.list b')].some(e => e.innerText === 'di')"
        )
        visitor.close()

    def links(self):
        """One's links are on the account's page, and can be taken back there."""
        link = self.link("photos/forest.jpg")
        visitor = self.visitor(self.ada)
        self.page(visitor, "/account")
        told("forest.jpg" in visitor.reads("#links"), "a link is on the account's page", visitor.text())
        visitor.press_button("form[action='/links/revoke'] button")
        visitor.see("it can be taken back", "return !/forest/.test(document.querySelector('#links')?.innerText ?? '')")
        guest = self.browser("guest")
        guest.open(link)
        told(not guest.has(".viewer"), "and leads nowhere then", guest.text())
        guest.close()
        visitor.close()

    def activity(self):
        """Who did what; back to a moment with a preview."""
        self.bo.put("later.md", b"# Later\n")
        visitor = self.visitor(self.ada)
        self.page(visitor, "/activity")
        told("later" in visitor.text().lower() and "bo" in visitor.text(), "what bo did is told", visitor.text())
        visitor.photograph("reads what happened")
        self.honest(visitor, "the activity", shifts=False)
        visitor.press_button(".events li:first-child a.icon-button")
        visitor.see(
            "a preview says what would change", "return /later/i.test(document.querySelector('main').innerText)"
        )
        told("later.md" in self.ada.run("notes", "list"), "and nothing has changed yet")
        visitor.photograph("looks at the club as it was")
        self.honest(visitor, "a preview of another moment", shifts=False)
        visitor.press_button("main form[method=post] button")
        eventually("the note is gone as before", lambda: "later.md" not in self.ada.run("notes", "list"))
        visitor.close()

    def leaving(self):
        visitor = self.joined("ed")
        self.page(visitor, "/account")
        visitor.unfold("Leave")
        visitor.click("Leave this club")
        visitor.see("a member leaves", "return /have left/.test(document.body.innerText)")
        self.page(visitor, items + "gear.md")
        told("/login" in visitor.address(), "and sees nothing then", visitor.address())
        visitor.close()
