"""With the keyboard alone, and with fingers: everything is reached, seen to have the focus, and large enough."""

from club import Club, items, settle
from steps import eventually, told

# What can be used, smaller than 44 px in a direction, with its size; links within a line of text are not meant.
small = """
    const inText = e => e.tagName === "A" && getComputedStyle(e).display === "inline"
      && e.closest("p, li, td, span, dd, .text");
    return [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
      .filter(e => e.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && !inText(e))
      .filter(e => e.type !== "hidden" && !e.closest(".skip, [hidden]"))
      .map(e => {
        // A box to tick, or a field, is as large as its label.
        const box = e.getBoundingClientRect(), whole = e.closest("label")?.getBoundingClientRect() ?? box;
        const words = (e.getAttribute("aria-label") ?? e.innerText ?? e.name ?? "").trim().slice(0, 30);
        const larger = side => Math.round(Math.max(box[side], whole[side]) * 10) / 10;
        return { name: `${e.tagName} ${e.className} ${words}`, width: larger("width"), height: larger("height") };
      })
      .filter(each => each.width > 1 && each.height > 1 && (each.width < 43.5 || each.height < 43.5))
      .map(each => `${each.name}: ${each.width} × ${each.height}`);"""

# Whether what has the focus can be seen to have it: an outline, a ring or another border, and in the window.
outlined = """
    const e = document.activeElement;
    if (e === document.body) return ["body", true];
    const seen = [e, e.parentElement, e.closest("label")].filter(Boolean).some(each => {
      const style = getComputedStyle(each);
      return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || each.matches("label:focus-within");
    });
    const box = e.getBoundingClientRect();
    const inWindow = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    const y = Math.min(innerHeight - 2, Math.max(1, box.y + box.height / 2));
    const middle = document.elementFromPoint(box.x + box.width / 2, y), label = e.closest("label");
    const isFree = !middle || e.contains(middle) || middle.contains(e) || !!label && middle.closest("label") === label;
    const words = (e.getAttribute("aria-label") ?? e.innerText ?? e.name ?? "").trim().slice(0, 40);
    const name = `${e.tagName}.${e.className} ${words}`;
    return [name, seen && inWindow && isFree, seen, inWindow, isFree, middle?.outerHTML.slice(0, 80)];"""


class Hands(Club):
    steps = ("tab", "gallery_by_keys", "photo_by_keys", "note_by_keys", "targets", "fingers")

    def found(self):
        super().found()
        self.put_many(40)

    def pages(self):
        return (
            "/gallery",
            items + "photos/forest.jpg",
            items + "photos/portrait.jpg",
            "/notes",
            items + "Trip/plan.md",
            "/notes/new",
            "/albums",
            "/add",
            "/account",
            "/members",
            "/activity",
            self.link("photos").removeprefix(self.server.url),
            self.link("photos/forest.jpg").removeprefix(self.server.url),
        )

    def tab(self):
        """Tab goes through each page in order; what has the focus shows it, and is not covered."""
        visitor = self.visitor(self.ada)
        for path in self.pages():
            self.page(visitor, path)
            settle(visitor)
            reached, bad = [], []
            for _ in range(60):
                visitor.press("Tab")
                name, fine, *why = visitor.run(outlined)
                if name == "body" or reached[:1] == [name] and len(reached) > 3:
                    break
                reached.append(name)
                if not fine:
                    bad.append((name, why))
            told(
                not bad,
                f"{path[:40]}: Tab reaches {len(reached)} things, each seen to have the focus",
                "\n".join(map(str, bad)),
            )
            told(
                len(reached) >= 3 and "Skip" in reached[0], f"{path[:40]}: the first of them skips the bar", reached[:5]
            )
        visitor.close()

    def to(self, visitor, what, condition, most=80):
        """Presses Tab until a condition holds for what has the focus."""
        for _ in range(most):
            visitor.press("Tab")
            if visitor.run(f"const e = document.activeElement; return {condition}"):
                told(True, f"Tab reaches {what}")
                return
        told(False, f"Tab reaches {what}", visitor.run(outlined))

    def gallery_by_keys(self):
        """From sign-in to an album with a photo in it, by keys alone."""
        visitor = self.browser("ada")
        visitor.open(self.server.url + "/login")
        visitor.type("ada")
        visitor.press("Tab")
        visitor.type("seven by the car park")
        visitor.press("Enter")
        visitor.see("keys sign in", "return location.pathname !== '/login'")
        self.timeline(visitor)
        self.to(visitor, "a kind of photos", "e.closest('.chips') && e.innerText === 'Panoramas'")
        visitor.press("Enter")
        visitor.see(
            "Enter shows it", "return location.search.includes('panoramas') && document.querySelector('#days a[href]')"
        )
        self.timeline(visitor)
        self.to(visitor, "the filter", "e.matches('.filter summary')")
        visitor.press("Enter")
        self.to(visitor, "its first field", "e.name === 'from'", 3)
        visitor.press("Escape")
        visitor.see("Escape closes it", "return !document.querySelector('.filter[open]')")
        self.to(visitor, "a photo", "e.matches('#days a.tile[href$=\"/sunrise.jpg\"]')", 30)
        visitor.press("x")
        self.to(visitor, "the button that moves", "e.title === 'Move to album'", 120)
        visitor.press("Enter")
        visitor.type("By keys")
        visitor.press("Enter")
        eventually("the photo is in an album", lambda: "sunrise" in self.listed("By keys"), visitor.text)
        visitor.press("/")
        told(visitor.run("return document.activeElement.type") == "search", "/ goes to the search")
        visitor.type("crossing")
        visitor.press("Enter")
        visitor.see("Enter searches", "return location.search.includes('q=crossing')")
        visitor.close()

    def photo_by_keys(self):
        """Share, delete, undo, information and caption without a mouse."""
        visitor = self.visitor(self.ada)
        self.page(visitor, items + "photos/forest.jpg")
        self.drawn(visitor, "the sphere")
        self.to(visitor, "Share", "e.matches('summary[aria-label=Share]')")
        visitor.press("Enter")
        self.to(visitor, "the button that makes a link", "e.matches('#share button')", 5)
        visitor.press("Enter")
        visitor.see("a link is made", "return !!document.querySelector('.made input')")
        told(visitor.run("return document.activeElement.matches('.made input')"), "and has the focus")
        visitor.press("Escape")
        visitor.see("Escape closes the menu", "return !document.querySelector('.menu[open]')")
        told(visitor.run("return document.activeElement.matches('summary')"), "and gives the focus back")
        self.to(visitor, "Delete", "e.matches('summary[aria-label=Delete]')", 5)
        visitor.press("Enter")
        self.to(visitor, "the button that deletes", "e.matches('#delete button')", 3)
        visitor.press("Enter")
        eventually("it is deleted", lambda: "forest" not in self.listed(), self.listed)
        visitor.see("Undo is offered", "return !!document.querySelector('.toast button')")
        visitor.press("Control+z")
        eventually("it is back", lambda: "forest" in self.listed(), self.listed)
        visitor.see("and shown", "return location.pathname.endsWith('/forest.jpg')")
        self.drawn(visitor, "the sphere")
        visitor.press("i")
        self.to(visitor, "the caption", "e.matches('.edit > summary')", 40)
        visitor.press("Enter")
        self.to(visitor, "its text", "e.matches('textarea')", 2)
        visitor.type(" and on")
        self.to(visitor, "Save", "e.matches('.edit button')", 2)
        visitor.press("Enter")
        eventually("the caption is saved", lambda: "and on" in self.shown("photos/forest.jpg.md"))
        visitor.close()

    def note_by_keys(self):
        """A note from nothing to its history, without a mouse."""
        visitor = self.visitor(self.bo)
        self.page(visitor, "/notes")
        self.to(visitor, "New note", "e.matches('.note-top a')", 20)
        visitor.press("Enter")
        visitor.see("the editor opens", "return !!document.querySelector('form.editor')")
        self.to(visitor, "the name", "e.name === 'name'", 60)
        visitor.type("By keys")
        self.to(visitor, "the text", "e.matches('textarea')", 20)
        visitor.type("Words")
        visitor.press("Control+s")
        visitor.see("Ctrl+S saves it", "return location.pathname.endsWith('/By%20keys.md')")
        self.to(visitor, "Edit", "e.matches('details.edit > summary')", 60)
        visitor.press("Enter")
        visitor.see("Enter edits it, in the text at once", "return document.activeElement.matches('textarea')")
        visitor.type("More ")
        visitor.press("Control+s")
        eventually("it is saved", lambda: "More" in self.shown("By keys.md"), lambda: self.shown("By keys.md"))
        visitor.see("and shown", "return !document.querySelector('details.edit[open]')")
        self.to(visitor, "the history", "e.matches('.note-actions > a')", 60)
        visitor.press("Enter")
        visitor.see("Enter opens it", "return document.querySelectorAll('.note-list li').length === 2")
        visitor.close()

    def targets(self):
        """On a phone everything that is touched is 44 px at least."""
        visitor = self.visitor(self.ada, phone=True)
        for path in self.pages():
            self.page(visitor, path)
            settle(visitor)
            visitor.run("for (const each of document.querySelectorAll('main details')) each.open = true")
            found = visitor.run(small)
            told(found == [], f"{path[:40]}: all targets are 44 px at least", "\n".join(found))
            self.fits(visitor, path[:40])
            visitor.photograph(f"touches {path[:30].replace('/', '-')}")
        visitor.close()

    def fingers(self):
        """The gallery by fingers: scrolling, a long touch selects, a tap opens."""
        visitor = self.visitor(self.bo, phone=True)
        self.timeline(visitor)
        settle(visitor)
        tile = "#days a.tile[href$='/forest.jpg']"
        x, y = visitor.place(tile)
        visitor.drag_path([(x, y)], kind="touch", rest=800)
        told(visitor.reads(".selection .count") == "1 selected", "a long touch selects", visitor.text())
        told(visitor.address() == "/gallery", "and opens nothing")
        visitor.photograph("has selected by a long touch")
        other = visitor.place("#days a.tile[href$='/courtyard.jpg']")
        visitor.drag_path([tuple(other)], kind="touch")
        told(visitor.reads(".selection .count") == "2 selected", "then a tap does", visitor.reads(".selection .count"))
        visitor.press_button(".selection button")
        visitor.drag_path([(200, 700), (200, 500), (200, 300)], kind="touch")
        settle(visitor)
        visitor.see("a finger scrolls", "return scrollY > 50")
        visitor.run("scrollTo(0, 0)")
        settle(visitor)
        visitor.drag_path([tuple(visitor.place(tile))], kind="touch")
        visitor.see("a tap opens", "return location.pathname.endsWith('/forest.jpg')")
        visitor.close()
