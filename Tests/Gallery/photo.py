"""The page of a photo: keys, swipes, actions, information, history, hot spots and links to a view."""

import urllib.parse

from club import Club, fixtures, items, settle
from steps import eventually, told

here = "return decodeURIComponent(location.pathname.split('/').at(-1))"


class Photo(Club):
    steps = (
        "keys",
        "help",
        "swipes",
        "information",
        "sharing",
        "deleting",
        "moving",
        "history",
        "spots",
        "views",
        "controls",
        "captions",
        "guests_of_the_page",
    )

    def photo(self, visitor, name="forest.jpg", more=""):
        self.page(visitor, items + "photos/" + urllib.parse.quote(name) + more)

    def at(self, visitor, what, name):
        visitor.see(f"{what} leads to {name}", here.replace("return", "return args[0] ===", 1), name)

    def keys(self):
        """Through all photos and back to where one came from, without a mouse."""
        visitor = self.visitor(self.ada)
        self.timeline(visitor)
        visitor.focus("#days a.tile[href$='/forest.jpg']")
        visitor.press("Enter")
        self.at(visitor, "Enter", "forest.jpg")
        self.drawn(visitor, "the sphere")
        order = [visitor.run(here)]
        for _ in range(3):
            visitor.press("]")
            visitor.see("] goes on", here.replace("return", "return args[0] !==", 1), order[-1])
            settle(visitor)
            order.append(visitor.run(here))
        told(len(set(order)) == 4, f"] goes through {', '.join(order)}", order)
        for name in reversed(order[:-1]):
            visitor.press("[")
            self.at(visitor, "[", name)
            settle(visitor)
        visitor.press("PageDown")
        self.at(visitor, "Page Down", order[1])
        settle(visitor)
        visitor.press("PageUp")
        self.at(visitor, "Page Up", order[0])
        self.drawn(visitor, "the sphere")
        visitor.press("Right")
        told(visitor.run(here) == order[0], "an arrow looks around in a sphere, and does not leave it")
        self.photo(visitor, "portrait.jpg")
        settle(visitor)
        visitor.press("Right")
        visitor.see(
            "on a photo that fits an arrow goes on", here.replace("return", "return args[0] !==", 1), "portrait.jpg"
        )
        visitor.close()
        visitor = self.visitor(self.ada)
        self.timeline(visitor)
        visitor.press_button("#days a.tile[href$='/forest.jpg']")
        self.at(visitor, "a click", "forest.jpg")
        settle(visitor)
        for _ in range(2):
            visitor.press("]")
            settle(visitor)
        visitor.press("Escape")
        visitor.see("one Escape leads back to the gallery", "return location.pathname === '/gallery'")
        visitor.close()

    def help(self):
        visitor = self.visitor(self.ada)
        self.photo(visitor)
        self.drawn(visitor, "the sphere")
        visitor.press("?")
        visitor.see("? shows the keys", "return document.getElementById('keys').open")
        visitor.photograph("sees the keys")
        visitor.press("Escape")
        visitor.see(
            "Escape closes them", "return !document.getElementById('keys').open && !!document.querySelector('.photo')"
        )
        told(visitor.run(here) == "forest.jpg", "and leaves the photo where it is")
        self.honest(visitor, "a photo's page")
        visitor.close()

    def swipes(self):
        """A finger goes on to the next photo where it does not look around."""
        if self.browser.is_firefox:
            return
        visitor = self.visitor(self.ada, phone=True)
        self.photo(visitor, "portrait.jpg")
        settle(visitor)
        next_one = visitor.run(
            "return decodeURIComponent(document.querySelector('.stage > [rel=next]').href.split('/').at(-1))"
        )
        x, y = visitor.place(".viewer img")
        visitor.drag_path([(x + 120, y), (x + 60, y), (x, y), (x - 120, y)], kind="touch")
        self.at(visitor, "a swipe to the left", next_one)
        settle(visitor)
        self.photo(visitor, "portrait.jpg")
        settle(visitor)
        newer = visitor.run(
            "return decodeURIComponent(document.querySelector('.stage > [rel=prev]').href.split('/').at(-1))"
        )
        visitor.drag_path([(x - 120, y), (x, y), (x + 120, y)], kind="touch")
        self.at(visitor, "a swipe to the right", newer)
        self.photo(visitor)
        self.drawn(visitor, "the sphere")
        x, y = visitor.place(".viewer canvas")
        visitor.drag_path([(x + 100, y), (x, y), (x - 100, y)], kind="touch")
        told(visitor.run(here) == "forest.jpg" and visitor.settled()["yaw"] > 3, "in a sphere it looks around")
        self.fits(visitor, "a photo's page of 390 px")
        visitor.photograph("looks around on a phone")
        visitor.close()

    def information(self):
        """When, where, with what and by whom, beside the photo; open as it was left."""
        visitor = self.visitor(self.bo)
        self.photo(visitor, "dated.jpg")
        settle(visitor)
        visitor.press("i")
        visitor.see("I shows the information", "return document.querySelector('.with-info #info').checkVisibility()")
        text = visitor.reads("#info")
        for words in ("5 Aug 2013", "18:40", "OpenStreetMap", "ada", "300 × 400"):
            told(words in text or f"0{words}" in text, f"it tells '{words}'", text)
        visitor.photograph("reads about a photo")
        self.photo(visitor)
        visitor.see("the next photo shows it too", "return !!document.querySelector('.with-info')")
        told("Left at the crossing" in visitor.reads("#info"), "with its caption", visitor.reads("#info"))
        visitor.press("i")
        visitor.see("I hides it", "return !document.querySelector('.with-info')")
        links = visitor.run("return [...document.querySelectorAll('a[target=_blank]')].map(a => a.rel)")
        told(all("noreferrer" in each for each in links), "the map learns nothing of the club", links)
        visitor.close()

    def sharing(self):
        visitor = self.visitor(self.ada)
        self.photo(visitor)
        self.drawn(visitor, "the sphere")
        visitor.press_button(".over summary[aria-label=Share]")
        visitor.press_button("#share button.primary")
        link = visitor.see("a link is made on the page", "return document.querySelector('.made input')?.value")
        told(visitor.run(here) == "forest.jpg", "which stays")
        visitor.photograph("has made a link")
        guest = self.browser("guest")
        guest.open(link)
        told("forest" in guest.text(), "a guest can open it", guest.text())
        guest.close()
        self.honest(visitor, "a photo with a link", shifts=False)
        visitor.close()

    def deleting(self):
        """Gone with one question, the next photo in its place, and back with one click."""
        visitor = self.visitor(self.ada)
        self.photo(visitor, "city.jpg")
        self.drawn(visitor, "the sphere")
        visitor.press_button(".over summary[aria-label=Delete]")
        visitor.photograph("is asked before a photo is deleted")
        visitor.press_button("#delete button")
        eventually("it is deleted", lambda: "city.jpg" not in self.listed(), self.listed)
        visitor.see("another photo takes its place", here.replace("return", "return args[0] !==", 1), "city.jpg")
        visitor.see("a message offers Undo", "return document.querySelector('.toast button')?.innerText === 'Undo'")
        visitor.press_button(".toast button")
        self.at(visitor, "Undo", "city.jpg")
        eventually("it is there again", lambda: "city.jpg" in self.listed(), self.listed)
        self.ada.run("photos", "rm", "city.jpg")
        self.photo(visitor, "city.jpg")
        told(
            "is deleted" in visitor.text() and "ada" in visitor.text(), "its page says so, and by whom", visitor.text()
        )
        visitor.photograph("sees that a photo is deleted")
        visitor.press_button("main button")
        visitor.see("and restores it", "return !!document.querySelector('main.photo')")
        visitor.close()

    def moving(self):
        visitor = self.visitor(self.ada)
        self.photo(visitor, "partial.jpg")
        self.unfold(visitor, "Rename or move")
        visitor.enter("form[action*='/photo/move'] [name=folder]", "Walks")
        visitor.enter("form[action*='/photo/move'] [name=name]", "a part.jpg")
        visitor.press_button("form[action*='/photo/move'] button")
        self.at(visitor, "a move", "a part.jpg")
        told("a part.jpg" in self.listed("Walks"), "it is in the album", self.listed("Walks"))
        visitor.close()

    def unfold(self, visitor, words):
        """Opens a part of the information."""
        visitor.run(
            """
            document.querySelector(".photo").classList.add("with-info");
            const summary = [...document.querySelectorAll("summary")].find(e => e.innerText.trim() === args[0]);
            summary.parentElement.open = true;
            summary.scrollIntoView({ block: "center" });""",
            words,
        )

    def history(self):
        """What was there before, by whom, and back to it."""
        self.bo.put("photos/sunrise.jpg", (fixtures / "sunset.jpg").read_bytes())
        visitor = self.visitor(self.ada)
        self.photo(visitor, "sunrise.jpg")
        self.unfold(visitor, "History")
        text = visitor.reads(".versions")
        told("bo" in text and "ada" in text and "shown" in text, "both versions are there, and by whom", text)
        visitor.photograph("sees a photo's history")
        visitor.press_button(".versions form button")
        visitor.see("the older one is restored", "return document.querySelectorAll('.versions li').length === 3")
        stored = self.ada.home / "stored.jpg"
        self.ada.run("photos", "download", "sunrise.jpg", "-o", stored)
        told(stored.read_bytes() == (fixtures / "sunrise.jpg").read_bytes(), "byte by byte")
        visitor.close()

    def spots(self):
        """A place in a photo that leads to another one, chosen by a click; it is a line of the caption."""
        visitor = self.visitor(self.ada)
        self.photo(visitor)
        self.drawn(visitor, "the sphere")
        self.unfold(visitor, "Places that lead elsewhere")
        visitor.press_button("#place")
        x, y = visitor.place(".viewer canvas")
        visitor.drag_path([(x + 60, y)])
        visitor.see("a click gives the place", "return Number(document.querySelector('#spot [name=yaw]').value) > 0")
        visitor.photograph("has chosen a place in a photo")
        visitor.enter("#spot [name=target]", "courtyard.jpg")
        visitor.enter("#spot [name=text]", "to the yard")
        visitor.press_button("#spot button")
        visitor.see("the photo has a link at that place", "return !!document.querySelector('.viewer-spots a')")
        caption = self.shown("photos/forest.jpg.md")
        told(
            "[to the yard](courtyard.jpg)" in caption and "old* forest" in caption,
            "it is a line of the caption",
            caption,
        )
        self.drawn(visitor, "the sphere")
        visitor.see("it is drawn in the sphere", "return !!document.querySelector('.viewer-spots li:not(.away) a')")
        visitor.photograph("sees a place that leads elsewhere")
        self.honest(visitor, "a photo with a place", shifts=False)
        visitor.press_button(".viewer-spots a")
        self.at(visitor, "a click on it", "courtyard.jpg")
        visitor.close()

    def views(self):
        """A link to exactly this view."""
        visitor = self.visitor(self.ada)
        self.photo(visitor, more="#view=90,10,50")
        self.drawn(visitor, "the sphere")
        visitor.press("Right")
        visitor.press("l")
        hash = visitor.see("L puts the view in the address", "return /^#view=95,/.test(location.hash) && location.hash")
        told(hash == "#view=95,10,50", "it is the one that was linked, and five degrees more", hash)
        visitor.close()

    def controls(self):
        """Turning by itself until a key, the little planet, full screen; buttons that say what they do."""
        visitor = self.visitor(self.ada)
        self.photo(visitor)
        self.drawn(visitor, "the sphere")
        buttons = visitor.run("""
            return [...document.querySelectorAll(".viewer-tools button:not([hidden])")]
              .map(each => [each.getAttribute("aria-label"), each.title]);""")
        told(
            all(label and title for label, title in buttons) and len(buttons) >= 6,
            "each button says what it does",
            buttons,
        )
        pressed = (
            "return document.querySelector(`.viewer-tools button[value='${args[0]}']`).getAttribute('aria-pressed')"
        )
        for key, name in (("r", "turning by itself"), ("p", "the little planet")):
            visitor.press(key)
            told(visitor.run(pressed, key) == "true", f"{key.upper()} starts {name}", visitor.run(pressed, key))
            visitor.photograph(f"looks at {name}")
            visitor.press("Home")
            told(visitor.run(pressed, key) == "false", "Home ends it", visitor.run(pressed, key))
        visitor.press("f")
        visitor.see("F fills the screen", "return !!document.querySelector('.viewer.full')")
        visitor.press("f")
        visitor.see("F ends it", "return !document.querySelector('.viewer.full')")
        visitor.see("the buttons fade when nobody moves", "return !!document.querySelector('.viewer.idle')", seconds=8)
        visitor.close()

    def captions(self):
        visitor = self.visitor(self.bo)
        self.photo(visitor, "courtyard.jpg")
        self.unfold(visitor, "Edit the caption")
        visitor.enter("#info .edit textarea", "Where we met")
        visitor.press_button("#info .edit form > button")
        visitor.see(
            "the caption is there", "return document.querySelector('figcaption')?.textContent === 'Where we met'"
        )
        told(self.shown("photos/courtyard.jpg.md").strip() == "Where we met", "as a note beside the photo")
        self.honest(visitor, "a photo with a caption", shifts=False)
        visitor.close()

    def guests_of_the_page(self):
        """Who may only look has no button that changes anything, and a click on 'original' is theirs too."""
        visitor = self.visitor(self.vi)
        self.photo(visitor)
        self.drawn(visitor, "the sphere")
        told(visitor.run("return !document.querySelector('.over form, #info form')"), "a viewer has no form")
        told(visitor.has("a[download]") == 1, "but may download")
        visitor.close()
