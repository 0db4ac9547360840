extension PlannerRow {
    /// Two entries that are to have one name for good: the server's has it.
    static let clashes: [PlannerRow] = [
        PlannerRow(
            "of two new files, the disk's gets a conflict name; the next plan sends it",
            file("a.md").called("mine").newOnDisk("2"),
            file("a.md").called("theirs").newOnServer("3"),
            plan: "1. mine: move on disk to a (conflict 1970-01-01 0000).md", "2. theirs: download",
            because: "mine: name-clash", "theirs: created-on-server"),
        PlannerRow(
            "two new files with the same content become one",
            file("a.md").called("mine").newOnDisk("2"),
            file("a.md").called("theirs").newOnServer("2"),
            plan: "mine: link to theirs", "mine waits for the name of theirs", "theirs waits for the name of mine",
            because: "mine: unified", "theirs: unified"),
        PlannerRow(
            "two new folders become one, and what is in them waits for that",
            folder("p").called("mine").newOnDisk(),
            folder("p").called("theirs").newOnServer(),
            file("mine/a.md").newOnDisk(),
            file("theirs/b.md").newOnServer(),
            plan: "mine: link to theirs", "mine waits for the name of theirs", "theirs waits for the name of mine",
            "mine/a.md waits for folder mine", "theirs/b.md waits for folder theirs",
            because: "mine: unified", "theirs: unified"),
        PlannerRow(
            "a new file gives way to the server's folder",
            file("x").called("mine").newOnDisk("2"),
            folder("x").called("theirs").newOnServer(),
            file("theirs/in.md").newOnServer(),
            plan: "1. mine: move on disk to x (conflict 1970-01-01 0000)", "2. theirs: make on disk",
            "3. theirs/in.md: download",
            because: "mine: name-clash", "theirs: created-on-server", "theirs/in.md: created-on-server"),
        PlannerRow(
            "a new folder gives way to the server's file, and what is in it waits for its new name",
            folder("x").called("mine").newOnDisk(),
            file("mine/in.md").newOnDisk(),
            file("x").called("theirs").newOnServer(),
            plan: "1. mine: move on disk to x (conflict 1970-01-01 0000)", "2. theirs: download",
            "mine/in.md waits for folder mine",
            because: "mine: name-clash", "theirs: created-on-server"),
        PlannerRow(
            "names clash in whatever letter case",
            file("A.md").newOnDisk("2"),
            file("a.md").newOnServer("3"),
            plan: "1. A.md: move on disk to A (conflict 1970-01-01 0000).md", "2. a.md: download",
            because: "A.md: name-clash", "a.md: created-on-server"),
        PlannerRow(
            "a disk that tells letter cases apart may have both: the new one gives way to the one that is synced",
            file("a.md"),
            file("A.md").newOnDisk("2"),
            plan: "A.md: move on disk to A (conflict 1970-01-01 0000).md",
            because: "A.md: name-clash"),
        PlannerRow(
            "a new file does not become one with an entry that is synced, though the content is the same",
            file("a.md"),
            file("A.md").newOnDisk("1"),
            plan: "A.md: move on disk to A (conflict 1970-01-01 0000).md",
            because: "A.md: name-clash"),
        PlannerRow(
            "an entry of the server becomes one with one of the disk alone",
            file("a.md").called("first").newOnDisk("2"),
            file("A.md").called("second").newOnDisk("2"),
            file("a.md").called("theirs").newOnServer("2"),
            plan: "second: move on disk to A (conflict 1970-01-01 0000).md", "first: link to theirs",
            "first waits for the name of theirs", "theirs waits for the name of first",
            because: "first: unified", "second: name-clash", "theirs: unified"),
        PlannerRow(
            "a conflict name that is taken gets a number",
            file("a.md").called("mine").newOnDisk("2"),
            file("a.md").called("theirs").newOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").newOnServer("2"),
            plan: "1. mine: move on disk to a (conflict 1970-01-01 0000 2).md",
            "2. theirs: download", "2. a (conflict 1970-01-01 0000).md: download",
            because: "mine: name-clash", "theirs: created-on-server",
            "a (conflict 1970-01-01 0000).md: created-on-server"),
        PlannerRow(
            "a new file gives way to an entry that the server has moved there",
            file("a.md").newOnDisk("2"),
            file("b.md").movedOnServer(to: "a.md"),
            plan: "1. a.md: move on disk to a (conflict 1970-01-01 0000).md", "2. b.md: move on disk to a.md",
            because: "a.md: name-clash", "b.md: moved-on-server"),
        PlannerRow(
            "an entry moved on disk gives way to a new one on the server, at the new place",
            file("a.md").movedOnDisk(to: "b.md"),
            file("b.md").newOnServer("2"),
            plan: "1. a.md: move on disk to b (conflict 1970-01-01 0000).md", "2. b.md: download",
            because: "a.md: name-clash", "b.md: created-on-server"),
        PlannerRow(
            "an entry moved on disk does not become one with a new one, though the content is the same",
            file("a.md").movedOnDisk(to: "b.md"),
            file("b.md").newOnServer("1"),
            plan: "1. a.md: move on disk to b (conflict 1970-01-01 0000).md", "2. b.md: download",
            because: "a.md: name-clash", "b.md: created-on-server"),
        PlannerRow(
            "what clashes about its place still sends its content",
            file("a.md").movedOnDisk(to: "b.md").editedOnDisk("2"),
            file("b.md").newOnServer("3"),
            plan: "1. a.md: move on disk to b (conflict 1970-01-01 0000).md", "2. a.md: upload", "2. b.md: download",
            because: "a.md: name-clash", "b.md: created-on-server"),
        PlannerRow(
            "two entries moved to one name, each on its side",
            file("a.md").movedOnDisk(to: "c.md"),
            file("b.md").movedOnServer(to: "c.md"),
            plan: "1. a.md: move on disk to c (conflict 1970-01-01 0000).md", "2. b.md: move on disk to c.md",
            because: "a.md: name-clash", "b.md: moved-on-server"),
        PlannerRow(
            "a new file gives way to an excluded entry of the server, and never becomes one with it",
            file("a.md").called("mine").newOnDisk("1"),
            file("a.md").called("theirs").newOnServer("1").excluded(),
            plan: "mine: move on disk to a (conflict 1970-01-01 0000).md",
            because: "mine: name-clash"),
    ]

    /// Folders that are gone on the server and on disk for what is in them alone.
    static let leftovers: [PlannerRow] = [
        PlannerRow("a folder that is left over is left alone", folder("p").leftOver(), plan: "nothing"),
        PlannerRow(
            "a folder that is left over stays where it is while only ignored things are in it",
            folder("p").leftOver(),
            file("p/ignored.o").newOnDisk().excluded(),
            plan: "nothing"),
        PlannerRow(
            "a new file brings the folders back that are left over",
            folder("p").leftOver(),
            folder("p/in").leftOver(),
            file("p/in/a.md").newOnDisk(),
            plan: "1. p: make on server", "2. p/in: make on server", "3. p/in/a.md: upload",
            because: "p: created-on-disk", "p/in: created-on-disk", "p/in/a.md: created-on-disk"),
        PlannerRow(
            "so does a file that is moved into it",
            folder("p").leftOver(),
            file("a.md").movedOnDisk(to: "p/a.md"),
            plan: "1. p: make on server", "2. a.md: move on server to p/a.md",
            because: "p: created-on-disk", "a.md: moved-on-disk"),
        PlannerRow(
            "a new folder of the server becomes one with what is left over",
            folder("p").called("left").leftOver(),
            folder("p").newOnServer(),
            plan: "left: link to p", "p waits for the name of left",
            because: "left: unified", "p: unified"),
        PlannerRow(
            "a new file of the server sends away what is left over",
            folder("p").called("left").leftOver(),
            file("p").newOnServer(),
            plan: "left: move on disk to p (conflict 1970-01-01 0000)", "p waits for the name of left",
            because: "left: name-clash"),
        PlannerRow(
            "new things on both sides make one folder of what is left over and what is new",
            folder("p").called("left").leftOver(),
            file("left/mine.md").newOnDisk(),
            folder("p").newOnServer(),
            file("p/theirs.md").newOnServer(),
            plan: "left: link to p", "left/mine.md waits for folder left", "p waits for the name of left",
            "p/theirs.md waits for folder p",
            because: "left: unified", "p: unified"),
        PlannerRow(
            "an entry moved on the server sends away what is left over",
            folder("p").called("left").leftOver(),
            folder("q").movedOnServer(to: "p"),
            plan: "left: move on disk to p (conflict 1970-01-01 0000)", "q waits for the name of left",
            because: "left: name-clash"),
    ]
}
