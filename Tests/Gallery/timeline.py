"""The timeline: rows and days, the slider, scrolling, what is new, filters, search, selection and albums."""

import urllib.parse

from club import Club, fixtures, settle
from steps import eventually, told

# The tiles in the window, from the top: name, place and size.
tiles = """
    return [...document.querySelectorAll("#days a.tile[href]:not(.line)")].map(tile => {
      const { x, y, width, height } = tile.getBoundingClientRect();
      return { name: decodeURIComponent(tile.pathname.split("/").at(-1)), x, y, width, height };
    }).filter(tile => tile.y + tile.height > 0 && tile.y < innerHeight);"""
selected = "return document.querySelector('.selection:not([hidden]) .count')?.textContent"


def tile(name):
    return f"#days a.tile[href$='/{urllib.parse.quote(name)}']"


class Timeline(Club):
    steps = ("rows", "scrolling", "slider", "news", "filters", "search", "selection", "albums", "viewer_role")

    def found(self):
        super().found()
        self.put_many(240)

    def rows(self):
        """Rows of even height that fill the width; panoramas at their shape; each day with its name above."""
        visitor = self.visitor(self.ada)
        for width in (1280, 2560):
            visitor.resize(width, 900)
            self.timeline(visitor)
            settle(visitor)
            visitor.run("scrollTo(0, 600)")
            settle(visitor)
            seen = visitor.run(tiles)
            told(len(seen) >= 8, f"{width} px show {len(seen)} photos at once", seen)
            heights = sorted(tile["height"] for tile in seen)
            told(
                190 <= heights[0] and heights[-1] <= 285,
                f"{width} px: rows are {heights[0]:.0f} to {heights[-1]:.0f} px high",
                seen,
            )
            overlaps = [
                (a["name"], b["name"])
                for number, a in enumerate(seen)
                for b in seen[:number]
                if a["x"] < b["x"] + b["width"] - 1
                and b["x"] < a["x"] + a["width"] - 1
                and a["y"] < b["y"] + b["height"] - 1
                and b["y"] < a["y"] + a["height"] - 1
            ]
            told(not overlaps, f"{width} px: no photo lies on another", overlaps)
            self.fits(visitor, f"the timeline of {width} px")
            visitor.photograph(f"looks at rows of {width} px")
        visitor.resize(1280, 900)
        self.timeline(visitor)
        settle(visitor)
        shape = visitor.run(
            "const b = document.querySelector(args[0]).getBoundingClientRect(); return b.width / b.height",
            tile("forest.jpg"),
        )
        told(1.9 < shape < 2.1, f"a sphere has its shape, {shape:.2f} : 1")
        label = visitor.run("""
            scrollTo(0, 900);
            await new Promise(done => setTimeout(done, 300));
            const bar = document.querySelector("header").getBoundingClientRect().bottom;
            const days = [...document.querySelectorAll("#days h2")].filter(each => {
              const day = each.parentElement.getBoundingClientRect();
              return day.top < bar && day.bottom > bar + 44;
            });
            return days.map(each => [each.textContent, Math.round(each.getBoundingClientRect().top - bar)]);""")
        told(label and all(-1 <= top <= 2 for _, top in label), "the day that is seen stays at the top", label)
        wordless = visitor.run(
            "return [...document.querySelectorAll('#days img')].filter(each => !each.alt).map(each => each.src)"
        )
        told(wordless == [], "each photo has words", wordless)
        self.honest(visitor, "the timeline")
        visitor.close()

    def scrolling(self):
        """To the end and back without a button; nothing moves by itself, and Back comes to the same place."""
        visitor = self.visitor(self.ada)
        self.timeline(visitor)
        told(not visitor.has(".more a"), "there is no button for older photos")
        tall = visitor.run("return document.documentElement.scrollHeight")
        moved = visitor.run("""
            let worst = 0, blank = 0;
            for (const step of [500, -400]) {
              for (let turn = 0; turn < 400; turn++) {
                const before = scrollY;
                scrollBy({ top: step, behavior: "instant" });
                if (scrollY === before) break;
                const tile = [...document.querySelectorAll("#days a.tile")].find(each => {
                  const box = each.getBoundingClientRect();
                  return box.top > 100 && box.bottom < innerHeight;
                });
                const place = tile?.getBoundingClientRect().top;
                await new Promise(done => setTimeout(done, 30));
                if (tile?.isConnected) worst = Math.max(worst, Math.abs(tile.getBoundingClientRect().top - place));
                if (!tile) blank++;
              }
            }
            return [worst, blank, scrollY, document.documentElement.scrollHeight];""")
        told(moved[0] == 0, "through all and back nothing has moved by itself", moved)
        told(moved[1] == 0, "and no window was without photos", moved)
        told(moved[2] == 0 and moved[3] == tall, "the page is as high as before", (moved, tall))
        told(visitor.shift() == 0, "the layout has not shifted", visitor.shift())
        count = visitor.run("return document.querySelectorAll('#days a.tile').length")
        told(count < 150, f"only {count} of 250 are in the page at a time")
        visitor.run("scrollTo({ top: 2500, behavior: 'instant' })")
        settle(visitor)
        before = visitor.run(tiles)
        photo = next(each for each in before if each["y"] > 100)
        visitor.press_button(tile(photo["name"]))
        visitor.see("a photo opens", "return !!document.querySelector('main.photo')")
        visitor.press("Escape")
        visitor.see("Escape leads back", "return !!document.querySelector('#days a.tile[href]')")
        settle(visitor)
        after = {each["name"]: each for each in visitor.run(tiles)}
        off = abs(after.get(photo["name"], {"y": 1e9})["y"] - photo["y"])
        told(off <= 2, f"to where one was, {off:.0f} px off", (photo, sorted(after)))
        visitor.close()

    def slider(self):
        """Years and months beside the photos, by mouse and by keys."""
        visitor = self.visitor(self.ada)
        self.timeline(visitor)
        settle(visitor)
        years = visitor.run(
            "return [...document.querySelectorAll('.scrubber .years span')].map(each => each.textContent)"
        )
        told(
            years == sorted(years, reverse=True) and {"2022", "2021", "2020"} <= set(years),
            f"the slider has the years {', '.join(years)}",
        )
        visitor.focus("#scrubber")
        month = "return document.getElementById('scrubber').getAttribute('aria-valuetext')"
        first = visitor.run(month)
        visitor.press("Down")
        settle(visitor)
        second = visitor.run(month)
        told(second != first, f"an arrow goes from {first} to {second}")
        visitor.press("End")
        settle(visitor)
        told("2020" in visitor.run(month), "End goes to the oldest months", visitor.run(month))
        visitor.see("their photos are there", "return !!document.querySelector(args[0])", tile("dated.jpg"))
        visitor.press("PageUp")
        settle(visitor)
        told("2021" in visitor.run(month), "Page Up goes to the year after", visitor.run(month))
        visitor.press("Home")
        settle(visitor)
        told(visitor.run(month) == first, "Home goes to the newest", visitor.run(month))
        x, y = visitor.place("#scrubber")
        visitor.drag_path([(x, y - 100), (x, y), (x, y + 150)])
        settle(visitor)
        told(visitor.run("return scrollY") > 1000, "it can be dragged", visitor.run("return scrollY"))
        visitor.photograph("has dragged the slider")
        self.honest(visitor, "the slider")
        visitor.close()

    def news(self):
        """What another member adds waits as a pill; what is looked at does not move, and a click shows it."""
        visitor = self.visitor(self.bo)
        self.timeline(visitor)
        visitor.run("scrollTo({ top: 1800, behavior: 'instant' })")
        settle(visitor)
        before = visitor.run(tiles)
        for name in ("studio", "sunset"):
            self.ada.put(f"photos/{name}.jpg", (fixtures / f"{name}.jpg").read_bytes())
        pill = "const p = document.getElementById('news'); return p.hidden ? '' : p.textContent.trim()"
        eventually(
            "a pill tells of two new photos", lambda: visitor.run(pill) == "2 new photos", lambda: visitor.run(pill)
        )
        told(visitor.run(tiles) == before, "what is looked at has not moved")
        told(visitor.shift() == 0, "the layout has not shifted", visitor.shift())
        visitor.photograph("is told of new photos")
        visitor.press_button("#news")
        visitor.see(
            "a click shows them", "return !!document.querySelector(args[0]) && scrollY === 0", tile("sunset.jpg")
        )
        self.honest(visitor, "the timeline with news", shifts=False)
        visitor.close()
        for name in ("studio", "sunset"):
            self.ada.run("photos", "rm", f"{name}.jpg")

    def filters(self):
        """By kind, month, person and place, in any mixture, each of which can be taken away."""
        visitor = self.visitor(self.ada)
        self.timeline(visitor)
        count = "return document.querySelectorAll('#days a.tile[href]:not(.line)').length"
        visitor.press_button(".chips a[href*='panoramas']")
        eventually("a chip shows panoramas alone", lambda: 4 <= visitor.run(count) <= 9, lambda: visitor.run(count))
        self.timeline(visitor)
        visitor.press_button(".filter summary")
        visitor.run("document.querySelector('[name=from]').value = '2023-09'")
        visitor.run("document.querySelector('[name=to]').value = '2023-09'")
        visitor.press_button(".filter button")
        eventually("a month shows its two", lambda: visitor.run(count) == 2, lambda: visitor.run(count))
        told(visitor.has(".filters a") == 2, "both limits are there to be taken away", visitor.text())
        visitor.photograph("has filtered by month")
        visitor.press_button(".filters a")
        visitor.see("and one is", "return document.querySelectorAll('.filters a').length === 1")
        self.timeline(visitor)
        visitor.press_button(".filter summary")
        visitor.run("""
            const who = document.querySelector('[name=who]');
            who.value = [...who.options].find(each => each.text === 'bo').value;""")
        visitor.press_button(".filter button")
        eventually("a member shows hers", lambda: visitor.run(count) == 2, lambda: visitor.run(count))
        self.honest(visitor, "a filter", shifts=False)
        visitor.close()

    def search(self):
        """One field for names, captions and texts."""
        visitor = self.visitor(self.ada)
        for words, found in (("courtyard", "courtyard.jpg"), ("crossing", "forest.jpg"), ("tripod", "gear.md")):
            self.timeline(visitor)
            visitor.press("/")
            visitor.type(words)
            visitor.press("Enter")
            visitor.see(
                f"'{words}' finds {found}",
                "return [...document.querySelectorAll('#days a[href]')].some(a => a.pathname.endsWith(args[0]))",
                found,
            )
        self.page(visitor, "/gallery?q=zebra")
        visitor.see("nothing found is said", "return document.getElementById('nothing').checkVisibility()")
        visitor.photograph("finds nothing")
        visitor.close()

    def selection(self):
        """By keys and by the mouse: a range, then download, move, delete and undo."""
        visitor = self.visitor(self.ada)
        self.timeline(visitor)
        settle(visitor)
        visitor.focus(tile("courtyard.jpg"))
        visitor.press("x")
        told(visitor.run(selected) == "1 selected", "X selects", visitor.run(selected))
        visitor.press_button(tile("sunrise.jpg"))
        told(visitor.run(selected) == "2 selected", "then a click does", visitor.run(selected))
        visitor.photograph("has selected two")
        visitor.press_button(".selection button[title=Download]")
        downloads = visitor.downloads
        eventually(
            "both are downloaded",
            lambda: {"courtyard.jpg", "sunrise.jpg"} <= {file.name for file in downloads.iterdir()}
            or any(file.suffix == ".zip" for file in downloads.iterdir()),
            lambda: sorted(downloads.iterdir()),
        )
        eventually("nothing is selected then", lambda: not visitor.run(selected), lambda: visitor.run(selected))
        visitor.focus(tile("courtyard.jpg"))
        visitor.press("Space")
        visitor.press_button(".selection button[title='Delete']")
        eventually("one is deleted", lambda: "courtyard" not in self.listed(), self.listed)
        visitor.see(
            "a message says so", "return document.querySelector('.toast')?.innerText.includes('Deleted 1 photo')"
        )
        visitor.photograph("has deleted one")
        visitor.press_button(".toast button")
        eventually("Undo brings it back", lambda: "courtyard" in self.listed(), self.listed)
        visitor.see("it is in the page again", "return !!document.querySelector(args[0])", tile("courtyard.jpg"))
        visitor.focus(tile("courtyard.jpg"))
        visitor.press("x")
        visitor.press_button(".selection button[title='Move to album']")
        visitor.type("Yards/Old")
        visitor.press("Enter")
        eventually("one is moved to an album", lambda: "courtyard" in self.listed("Yards/Old"), visitor.text)
        visitor.see(
            "the page has it there",
            "return !!document.querySelector(args[0])",
            "#days a.tile[href*='Old/courtyard.jpg']",
        )
        self.honest(visitor, "the selection", shifts=False)
        visitor.close()

    def albums(self):
        """Folders with covers, and a timeline of each."""
        visitor = self.visitor(self.ada)
        self.page(visitor, "/albums")
        names = visitor.run("return [...document.querySelectorAll('.covers h2')].map(each => each.textContent)")
        told("Dolomites" in names, "each folder with photos is one", names)
        visitor.see("each has a cover", "return [...document.images].slice(1).every(each => each.naturalWidth > 0)")
        visitor.photograph("looks at albums")
        visitor.press_button(".covers a[href*='Dolomites']")
        count = "return document.querySelectorAll('#days a.tile[href]').length"
        eventually("an album has its two photos", lambda: visitor.run(count) == 2, visitor.text)
        told(visitor.run("return document.querySelector('h1').innerText") == "Dolomites", "and its name")
        self.honest(visitor, "an album", shifts=False)
        visitor.close()

    def viewer_role(self):
        """Who may only look is offered nothing that would be refused."""
        visitor = self.visitor(self.vi)
        self.timeline(visitor)
        told(not visitor.has(".bar .add"), "a viewer has no button to add")
        visitor.focus("#days a.tile:not(.line)")
        visitor.press("x")
        words = visitor.run("return [...document.querySelectorAll('.selection button')].map(each => each.title)")
        told("Download" in words and "Delete" not in words, "and may select to download alone", words)
        visitor.close()
