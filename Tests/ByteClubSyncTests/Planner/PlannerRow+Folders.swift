extension PlannerRow {
    /// Folders are there before what comes into them, and each thing that is needed is decided on demand.
    static let folders: [PlannerRow] = [
        PlannerRow(
            "new folders are made on the server from the top, then the files in them are sent",
            file("p/in/a.md").newOnDisk(),
            folder("p/in").newOnDisk(),
            folder("p").newOnDisk(),
            plan: "1. p: make on server", "2. p/in: make on server", "3. p/in/a.md: upload",
            because: "p/in/a.md: created-on-disk", "p/in: created-on-disk", "p: created-on-disk"),
        PlannerRow(
            "new folders are made on disk from the top, and those of one depth together",
            folder("p").newOnServer(),
            folder("p/in").newOnServer(),
            folder("q").newOnServer(),
            file("p/in/a.md").newOnServer(),
            file("q/b.md").newOnServer(),
            plan: "1. p: make on disk", "1. q: make on disk", "2. p/in: make on disk", "3. p/in/a.md: download",
            "3. q/b.md: download",
            because: "p: created-on-server", "p/in: created-on-server", "q: created-on-server",
            "p/in/a.md: created-on-server", "q/b.md: created-on-server"),
        PlannerRow(
            "asked about a file alone, the planner brings its folders as well",
            folder("p").newOnServer(),
            folder("p/in").newOnServer(),
            file("p/in/a.md").newOnServer(),
            file("p/b.md").newOnServer(),
            plan: "1. p: make on disk", "2. p/in: make on disk", "3. p/in/a.md: download",
            because: "p: created-on-server", "p/in: created-on-server", "p/in/a.md: created-on-server"
        ).asking("p/in/a.md"),
        PlannerRow(
            "a file moves into a new folder as soon as that is there",
            file("a.md").movedOnDisk(to: "q/a.md"),
            folder("q").newOnDisk(),
            plan: "1. q: make on server", "2. a.md: move on server to q/a.md",
            because: "a.md: moved-on-disk", "q: created-on-disk"),
        PlannerRow(
            "a new folder may come into one that moves",
            folder("p").movedOnServer(to: "q"),
            folder("p/new").newOnServer(),
            plan: "p: move on disk to q", "p/new: make on disk",
            because: "p: moved-on-server", "p/new: created-on-server"),
        PlannerRow(
            "a folder moves after those above its new place of which it is known that they move",
            folder("r"),
            folder("q").movedOnDisk(to: "r/q"),
            folder("p").movedOnDisk(to: "q/p"),
            plan: "1. q: move on server to r/q", "2. p: move on server to q/p",
            because: "q: moved-on-disk", "p: moved-on-disk"),
        PlannerRow(
            "nothing comes into a folder that nobody has told of yet",
            folder("p").unknown(),
            file("p/a.md").newOnServer(),
            plan: "p/a.md waits for folder p"),
        PlannerRow(
            "bookkeeping, then folders and moves, then contents, then deletions",
            file("deleted.md").deletedOnServer(),
            file("edited.md").editedOnServer("2"),
            file("moved.md").movedOnDisk(to: "new/moved.md"),
            folder("new").newOnDisk(),
            file("same.md").newOnBoth(),
            plan: "1. same.md: adopt", "2. new: make on server", "3. moved.md: move on server to new/moved.md",
            "4. edited.md: download", "5. deleted.md: trash",
            because: "deleted.md: deleted-on-server", "edited.md: edited-on-server", "moved.md: moved-on-disk",
            "new: created-on-disk", "same.md: adopted"),
        PlannerRow(
            "entries become one at last, since the places of all that is in them change",
            folder("p").called("mine").newOnDisk(),
            folder("p").called("theirs").newOnServer(),
            file("deleted.md").deletedOnDisk(),
            plan: "1. deleted.md: delete on server", "2. mine: link to theirs",
            "mine waits for the name of theirs", "theirs waits for the name of mine",
            because: "mine: unified", "theirs: unified", "deleted.md: deleted-on-disk"),
    ]
}
