"""The pages without what many have: without scripts, without WebGL, with less motion."""

import io
import urllib.request

from club import Club, fixtures, items, pictures, settle
from PIL import Image
from steps import eventually, told
from visitor import without_webgl

strip = """
    const a = document.querySelector(".viewer > a");
    return a.checkVisibility({ visibilityProperty: true }) && a.firstElementChild.naturalWidth > 0;"""


class Without(Club):
    steps = ("looking", "adding", "writing", "changing", "sharing", "webgl", "motion")

    def plain(self, member=None, **options):
        """A browser whose pages have no scripts; what the checks themselves ask is still answered."""
        visitor = self.visitor(member, **options)
        visitor.command("Emulation.setScriptExecutionDisabled", value=True)
        return visitor

    @staticmethod
    def ask(visitor, script, *arguments):
        """What a function body returns in a page whose own scripts do not run."""
        visitor.command("Emulation.setScriptExecutionDisabled", value=False)
        try:
            return visitor.run(script, *arguments)
        finally:
            visitor.command("Emulation.setScriptExecutionDisabled", value=True)

    def reads(self, visitor):
        return self.ask(visitor, "return document.body.innerText")

    def looking(self):
        """The gallery by pages, a photo with its neighbours, albums, notes, history, search and filter."""
        visitor = self.plain(self.ada)
        self.page(visitor, "/gallery")
        count = self.ask(visitor, "return document.querySelectorAll('#days img').length")
        told(count >= 9, f"the gallery has {count} photos without scripts")
        eventually("their pictures come", lambda: self.ask(visitor, pictures) >= 4)
        visitor.photograph("looks at the gallery without scripts")
        visitor.press_button(".months summary")
        visitor.press_button(".months p:last-of-type a:last-child")
        told("2013" in self.reads(visitor), "a month's link leads to it", self.reads(visitor))
        self.page(visitor, items + "photos/forest.jpg")
        told(self.ask(visitor, strip), "a sphere is a strip to scroll")
        told("Details" in self.reads(visitor), "with its information", self.reads(visitor))
        visitor.photograph("looks at a photo without scripts")
        visitor.press_button(".stage > [rel=next]")
        told("forest" not in self.ask(visitor, "return location.pathname"), "a link leads to the next")
        for path, words in (
            ("/albums", "Dolomites"),
            ("/notes", "The plan"),
            (items + "Trip/plan.md", "tripod"),
            ("/notes/history/byteclub/gear.md", "soup"),
            ("/gallery?q=crossing", "forest"),
            ("/gallery?from=2023-09&to=2023-09", "Sep 2023"),
            ("/account", "ada"),
            ("/members", "bo"),
        ):
            self.page(visitor, path)
            text = self.ask(visitor, "return document.documentElement.innerHTML")
            told(words in text, f"{path} tells '{words}' without scripts", text[:3000])
        visitor.close()

    def adding(self):
        """Several photos at once by the form."""
        visitor = self.plain(self.bo)
        self.page(visitor, "/gallery")
        visitor.press_button(".bar .add")
        told(self.ask(visitor, "return location.pathname") == "/add", "the button leads to a form")
        for name in ("studio", "night"):
            (self.bo.home / f"plain {name}.jpg").write_bytes((fixtures / f"{name}.jpg").read_bytes())
        visitor.choose(
            "#upload input[type=file]", *(self.bo.home / f"plain {name}.jpg" for name in ("studio", "night"))
        )
        visitor.press_button("#upload button")
        listed = self.listed()
        told("plain studio.jpg" in listed and "plain night.jpg" in listed, "two photos are added by it", listed)
        visitor.close()

    def writing(self):
        """A note that is written, looked at, saved, edited, renamed, ticked and deleted by forms."""
        visitor = self.plain(self.bo)
        self.page(visitor, "/notes")
        visitor.press_button(".note-top a")
        visitor.enter("[name=name]", "Plain words")
        visitor.enter("textarea", "Some **words**.\n\n- [ ] a task\n")
        visitor.press_button("button[formaction='/notes/preview']")
        told("Nothing is saved yet" in self.reads(visitor), "the preview is a page", self.reads(visitor))
        visitor.press_button("form.editor .primary")
        told("a task" in self.shown("Plain words.md"), "a note is written")
        visitor.press_button("details.edit > summary")
        visitor.enter("textarea", "Other **words**.\n\n- [ ] a task\n")
        visitor.press_button("form.editor .primary")
        told("Other" in self.shown("Plain words.md"), "and edited", self.shown("Plain words.md"))
        visitor.press_button(".text button.box")
        told("- [x] a task" in self.shown("Plain words.md"), "and ticked", self.shown("Plain words.md"))
        visitor.press_button(".note-actions .menu > summary")
        visitor.press_button("form[action='/notes/delete'] button")
        told("was deleted" in self.reads(visitor), "and deleted", self.reads(visitor))
        visitor.press_button(".notice button")
        told("a task" in self.shown("Plain words.md"), "and back again")
        visitor.close()

    def changing(self):
        """A photo that gets a caption, moves, is deleted and restored by forms."""
        visitor = self.plain(self.ada)
        self.page(visitor, items + "photos/courtyard.jpg")
        visitor.press_button("#info .edit > summary")
        visitor.enter("#info .edit textarea", "By hand")
        visitor.press_button("#info .edit form > button")
        told(self.shown("photos/courtyard.jpg.md").strip() == "By hand", "a caption is written")
        visitor.press_button(".over summary[aria-label=Delete]")
        visitor.press_button("#delete button")
        told("courtyard" not in self.listed(), "the photo is deleted", self.listed())
        self.page(visitor, items + "photos/courtyard.jpg")
        visitor.press_button("main form button")
        told("courtyard" in self.listed(), "and restored", self.listed())
        visitor.press_button("#info details:has([action*='/photo/move']) > summary")
        visitor.enter("[action*='/photo/move'] [name=folder]", "By hand")
        visitor.press_button("[action*='/photo/move'] button")
        told("courtyard" in self.listed("By hand"), "and moved to an album", self.listed("By hand"))
        visitor.close()

    def sharing(self):
        """A link that is made by a form, and opened without scripts."""
        visitor = self.plain(self.ada)
        self.page(visitor, items + "photos/forest.jpg")
        visitor.press_button(".over summary[aria-label=Share]")
        visitor.press_button("#share button.primary")
        link = self.ask(visitor, "return document.querySelector('.made input')?.value")
        told(link and "/s/" in link, "a link is made", self.reads(visitor))
        visitor.photograph("has made a link without scripts")
        visitor.open(link)
        told("forest" in self.reads(visitor) and self.ask(visitor, strip), "which shows the photo", self.reads(visitor))
        download = self.ask(visitor, "return document.querySelector('a[href*=\"dl=1\"]').href")
        told(Image.open(io.BytesIO(urllib.request.urlopen(download).read())).width == 1024, "and gives the file")
        visitor.close()

    def webgl(self):
        visitor = self.visitor(self.ada, switches=without_webgl)
        self.page(visitor, items + "photos/forest.jpg")
        told(visitor.run("return !document.createElement('canvas').getContext('webgl2')"), "there is no WebGL")
        visitor.see("without it a sphere is a strip", strip)
        hidden = visitor.run(
            """
            return [...document.querySelectorAll(".viewer-tools button")].filter(e => e.checkVisibility()).map(e => e.value)"""
        )
        told(not {"r", "p"} & set(hidden), "with no button for what a strip cannot do", hidden)
        settle(visitor)
        visitor.focus(".viewer > a")
        before = visitor.run("return document.querySelector('.viewer > a').scrollLeft")
        visitor.press("Right")
        told(visitor.run("return document.querySelector('.viewer > a').scrollLeft") != before, "arrows pan it")
        visitor.press("]")
        visitor.see("and ] goes on", "return !location.pathname.endsWith('forest.jpg')")
        visitor.photograph("has no WebGL")
        self.timeline(visitor)
        self.honest(visitor, "the pages without WebGL", shifts=False)
        visitor.close()

    def motion(self):
        """For who wants less motion nothing moves by itself, on no page."""
        visitor = self.visitor(self.ada)
        visitor.prefer("prefers-reduced-motion", "reduce")
        for path, keys in (
            ("/gallery", ["x"]),
            (items + "photos/forest.jpg", ["r", "i", "]"]),
            ("/notes", []),
            ("/albums", []),
            (items + "Trip/plan.md", []),
            ("/account", []),
            (self.link("photos").removeprefix(self.server.url), []),
        ):
            self.page(visitor, path)
            settle(visitor)
            watch = (
                "window.moving = []; for (const name of ['transitionrun', 'animationstart']) "
                "addEventListener(name, e => moving.push(name + ' ' + e.target.className), true)"
            )
            visitor.run(watch)
            if path == "/gallery":
                visitor.focus("#days a.tile:not(.line)")
            for key in keys:
                visitor.press(key)
                settle(visitor)
            moving = visitor.run("""
                return (window.moving ?? []).concat(document.getAnimations().filter(each => each.playState === "running")
                  .map(each => each.effect.target.className));""")
            told(moving == [], f"nothing moves by itself on {path[:40]}", moving)
            if "forest" in path:
                self.page(visitor, path)
                self.drawn(visitor, "the sphere")
                visitor.press("r")
                before = visitor.settled()["yaw"]
                told(visitor.settled()["yaw"] == before, "no key makes a sphere turn by itself")
                told(visitor.run("return document.querySelector('[value=r]').hidden"), "nor has it a button for that")
        visitor.close()
