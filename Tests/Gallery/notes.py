"""Notes: new, edited by two, renamed, deleted and restored; tasks, tables, links, photos in texts, drafts."""

from club import Club, items, settle
from steps import eventually, told


class Notes(Club):
    steps = (
        "writing",
        "reading",
        "tasks",
        "merging",
        "drafts",
        "asking",
        "renaming",
        "deleting",
        "history",
        "photos",
        "marks",
        "viewer_role",
    )

    def note(self, visitor, path):
        self.page(visitor, items + path)

    def edit(self, visitor, path):
        """Opens a note with its editor."""
        self.note(visitor, path)
        visitor.press_button("details.edit > summary")
        visitor.see(
            f"{visitor.name} has the editor open", "return document.querySelector('textarea').checkVisibility()"
        )

    @staticmethod
    def save(visitor, text):
        visitor.enter("textarea", text)
        visitor.press_button("form.editor .primary")

    def saved(self, what, path, text):
        eventually(what, lambda: self.shown(path) == text, lambda: self.shown(path))

    def writing(self):
        """A new note from the list, by Tab and Ctrl+S."""
        visitor = self.visitor(self.bo)
        self.page(visitor, "/notes")
        told(visitor.has(".note-list a") >= 3, "the list has the notes", visitor.text())
        visitor.photograph("looks at the notes")
        visitor.press_button(".note-top a")
        visitor.see("the editor opens", "return location.pathname === '/notes/new'")
        visitor.enter("[name=name]", "A day on the ridge")
        visitor.focus("textarea")
        visitor.type("Fog until ten.")
        visitor.press("Control+s")
        visitor.see("it is saved, and shown", "return location.pathname.startsWith('/gallery/byteclub/')")
        told(
            "A day on the ridge.md" in visitor.address() and "Fog until ten." in visitor.reads(".note-page .text"),
            "under its name",
            visitor.text(),
        )
        told("Fog until ten." in self.shown("A day on the ridge.md"), "in the club")
        self.honest(visitor, "a new note", shifts=False)
        visitor.close()

    def reading(self):
        """Markdown as it is written: a table, tasks, a link to another note, a photo."""
        visitor = self.visitor(self.ada)
        self.note(visitor, "Trip/plan.md")
        told(visitor.reads("h1") == "The plan", "its heading is the page's", visitor.reads("h1"))
        for css, what in (
            (".text table td", "a table"),
            (".text strong", "bold words"),
            (".text em", "and leaning ones"),
            (".text button.box, .text .box", "tasks"),
            (".text a[href*='gear.md']", "a link to another note"),
            (".text img, .text figure", "a photo"),
        ):
            told(visitor.has(css), f"there is {what}", visitor.run("return document.querySelector('.text').innerHTML"))
        visitor.see(
            "the photo has come", "return [...document.querySelectorAll('.text img')].some(e => e.naturalWidth)"
        )
        visitor.photograph("reads a note")
        visitor.press_button(".text a[href*='gear.md']")
        visitor.see("the link leads to the note", "return location.pathname.endsWith('/gear.md')")
        self.honest(visitor, "a note")
        visitor.close()

    def tasks(self):
        visitor = self.visitor(self.ada)
        self.note(visitor, "Trip/plan.md")
        checked = (
            "return [...document.querySelectorAll('.text button.box')].map(each => each.getAttribute('aria-checked'))"
        )
        told(visitor.run(checked) == ["false", "true"], "a task is open and one is done", visitor.run(checked))
        visitor.focus(".text button.box")
        visitor.press("Space")
        eventually("Space ticks it", lambda: "- [x] book the hut" in self.shown("Trip/plan.md"))
        told(visitor.run(checked) == ["true", "true"], "the page shows it", visitor.run(checked))
        visitor.press("Space")
        eventually("and unticks it", lambda: "- [ ] book the hut" in self.shown("Trip/plan.md"))
        visitor.close()

    def merging(self):
        """Two edit at once: different lines are merged; of the same line nobody loses anything."""
        path, base = "merge.md", "# Plan\n\nBring water.\n\nMeet at seven.\n"
        self.ada.write(path, base)
        ada, bo = self.visitor(self.ada), self.visitor(self.bo)
        self.edit(ada, path)
        self.edit(bo, path)
        self.save(bo, base.replace("seven", "eight"))
        self.saved("the first edit is saved", path, base.replace("seven", "eight"))
        self.save(ada, base.replace("# Plan", "# Our plan"))
        both = base.replace("seven", "eight").replace("# Plan", "# Our plan")
        self.saved("an edit of another line is merged", path, both)
        self.edit(ada, path)
        self.edit(bo, path)
        bread = both.replace("water", "bread")
        self.save(bo, bread)
        self.saved("another edit is saved", path, bread)
        self.save(ada, both.replace("water", "rope"))
        ada.see("an edit of the same line is told of it", "return /bread/.test(document.body.innerText)")
        ada.photograph("is told of another edit")
        told(self.shown(path) == bread, "the other text stands", self.shown(path))
        text = ada.run("return document.querySelector('textarea').value")
        told("rope" in text, "the own text is still there", text)
        self.save(ada, both.replace("water", "rope and bread"))
        self.saved("both texts are saved", path, both.replace("water", "rope and bread"))
        self.honest(ada, "a note with two texts", shifts=False, refusals=("409",))
        ada.close()
        bo.close()

    def drafts(self):
        """What is typed and not saved is there again after the page was left or the browser went away."""
        self.ada.write("draft.md", "# Draft\n\nOne line.\n")
        visitor = self.visitor(self.ada)
        self.edit(visitor, "draft.md")
        visitor.run("const area = document.querySelector('textarea'); area.setSelectionRange(0, 0)")
        visitor.type("Typed, not saved. ")
        visitor.run(
            "window.onbeforeunload = null; addEventListener('beforeunload', e => e.stopImmediatePropagation(), true)"
        )
        self.note(visitor, "gear.md")
        self.note(visitor, "draft.md")
        visitor.see("the draft is offered", "return !!document.querySelector('.notice.draft')")
        visitor.photograph("is offered a draft")
        visitor.press_button(".notice.draft .primary")
        text = visitor.run("return document.querySelector('textarea').value")
        told(text.startswith("Typed, not saved. # Draft"), "every letter is there", text)
        visitor.press_button("form.editor .primary")
        self.saved("it can be saved", "draft.md", "Typed, not saved. # Draft\n\nOne line.\n")
        self.note(visitor, "draft.md")
        settle(visitor)
        told(not visitor.has(".notice.draft"), "then it is offered no more")
        visitor.close()

    def asking(self):
        """Leaving with unsaved words asks first."""
        self.ada.write("ask.md", "# Ask\n")
        visitor = self.visitor(self.ada)
        self.edit(visitor, "ask.md")
        asks = "return !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
        told(not visitor.run(asks), "leaving an unchanged text does not ask")
        visitor.type("new ")
        told(visitor.run(asks), "leaving a changed one does")
        visitor.press("Control+s")
        visitor.see("saving leaves without a question", "return !document.querySelector('details.edit[open]')")
        visitor.close()

    def renaming(self):
        self.ada.write("old name.md", "# Named\n")
        visitor = self.visitor(self.ada)
        self.note(visitor, "old%20name.md")
        visitor.press_button(".note-actions .menu > summary")
        field = "form.move [name=to]"
        was = visitor.run(f"return document.querySelector('{field}').value")
        visitor.enter(field, was.replace("old name.md", "Trip/new name.md"))
        visitor.press_button("form.move button")
        visitor.see("it is in its new folder", "return location.pathname.endsWith('/Trip/new%20name.md')")
        told(self.shown("Trip/new name.md") == "# Named\n", "with its text")
        visitor.close()

    def deleting(self):
        self.ada.write("gone.md", "# Gone\n\nSoon.\n")
        visitor = self.visitor(self.ada)
        self.note(visitor, "gone.md")
        visitor.press_button(".note-actions .menu > summary")
        visitor.press_button("form[action='/notes/delete'] button")
        visitor.see("a message says that it is deleted", "return /was deleted/.test(document.body.innerText)")
        visitor.photograph("has deleted a note")
        told("gone.md" not in self.ada.run("notes", "list"), "it is gone from the list")
        visitor.press_button(".notice button")
        visitor.see("Undo brings it back", "return location.pathname.endsWith('/gone.md')")
        told(self.shown("gone.md") == "# Gone\n\nSoon.\n", "as it was")
        visitor.close()

    def history(self):
        for text in ("# Told\n\nOne.\n", "# Told\n\nTwo.\n", "# Told\n\nThree.\n"):
            self.ada.write("told.md", text)
        visitor = self.visitor(self.bo)
        self.note(visitor, "told.md")
        visitor.press_button(".note-actions a[href*='history']")
        visitor.see("the history has three versions", "return document.querySelectorAll('.note-list li').length === 3")
        told(
            "Two." in visitor.reads(".difference") and "Three." in visitor.reads(".difference"),
            "and the difference of the last",
            visitor.text(),
        )
        visitor.photograph("sees a note's history")
        visitor.press_button(".note-list li:last-child a")
        visitor.see("an older one opens", "return /One\\./.test(document.querySelector('.difference').innerText)")
        visitor.press_button("form[action='/notes/restore'] button")
        self.saved("it is restored", "told.md", "# Told\n\nOne.\n")
        self.honest(visitor, "a note's history", shifts=False)
        visitor.close()

    def photos(self):
        """A photo that is dropped into a text is added to the club, and shown where it was dropped."""
        self.ada.write("story.md", "# Story\n")
        visitor = self.visitor(self.ada)
        self.edit(visitor, "story.md")
        visitor.run("document.querySelector('textarea').setSelectionRange(9, 9)")
        source = visitor.run(
            """
            const answer = await fetch(args[0]), blob = await answer.blob(), data = new DataTransfer();
            data.items.add(new File([blob, "dropped"], "into the text.jpg", { type: "image/jpeg" }));
            const area = document.querySelector("textarea");
            area.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
            return area.value;""",
            self.picture(visitor),
        )
        text = visitor.see(
            "its line is in the text",
            """
            const text = document.querySelector('textarea').value;
            return /!\\[into the text[^\\]]*\\]\\([^)]+\\)/.test(text) && text;""",
        )
        told(source == "# Story\n" or source in text, "beside what was there", text)
        visitor.press_button("form.editor .primary")
        visitor.see(
            "the note shows it",
            "return [...document.querySelectorAll('.note-page .text img')].some(e => e.naturalWidth)",
        )
        told("into the text.jpg" in self.listed("", "-r"), "the club has it", self.listed("", "-r"))
        visitor.photograph("has dropped a photo into a note")
        self.honest(visitor, "a note with a dropped photo", shifts=False)
        visitor.close()

    def picture(self, visitor):
        """The address of some photo's picture."""
        return visitor.run("""
            const answer = await fetch("/gallery/items?limit=20", { headers: { Accept: "application/json" } });
            return `/photos/${(await answer.json()).items.find(each => each.hash).hash}/256.jpg`;""")

    def marks(self):
        """Buttons and keys for people who know no Markdown."""
        self.ada.write("marks.md", "some words\n")
        visitor = self.visitor(self.ada)
        self.edit(visitor, "marks.md")
        visitor.run("document.querySelector('textarea').setSelectionRange(0, 4)")
        visitor.press("Control+b")
        text = "return document.querySelector('textarea').value"
        told(visitor.run(text) == "**some** words\n", "Ctrl+B makes bold", visitor.run(text))
        visitor.run("document.querySelector('textarea').setSelectionRange(14, 14)")
        visitor.press_button(".tools [title=List]")
        told(visitor.run(text) == "- **some** words\n", "a button makes a list", visitor.run(text))
        visitor.run("document.querySelector('textarea').setSelectionRange(16, 16)")
        visitor.press("Enter")
        told(visitor.run(text) == "- **some** words\n- \n", "Enter goes on with it", visitor.run(text))
        visitor.press_button(".tools .apart")
        visitor.see("the preview shows both", "return !!document.querySelector('form.editor .text li strong')")
        visitor.photograph("sees a preview")
        visitor.press_button(".tools .apart")
        told(visitor.run("return document.activeElement.tagName") == "TEXTAREA", "and leads back to the text")
        self.honest(visitor, "the editor", shifts=False)
        visitor.close()

    def viewer_role(self):
        visitor = self.visitor(self.vi)
        self.note(visitor, "Trip/plan.md")
        told(not visitor.has(".note-page form, .note-page button.box:not(:disabled)"), "a viewer changes nothing")
        self.page(visitor, "/notes/new")
        told(not visitor.has("textarea"), "and writes no note", visitor.text())
        visitor.close()
