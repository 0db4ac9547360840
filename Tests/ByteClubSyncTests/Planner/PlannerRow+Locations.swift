extension PlannerRow {
    /// Where an entry is: merged apart from what it holds.
    static let locations: [PlannerRow] = [
        PlannerRow(
            "a move on disk is done on the server",
            folder("q"),
            file("b.md").movedOnDisk(to: "q/b.md"),
            plan: "b.md: move on server to q/b.md",
            because: "b.md: moved-on-disk"),
        PlannerRow(
            "a move on the server is done on disk",
            folder("q"),
            file("b.md").movedOnServer(to: "q/b.md"),
            plan: "b.md: move on disk to q/b.md",
            because: "b.md: moved-on-server"),
        PlannerRow(
            "the same move on both sides is remembered as synced",
            file("a.md").movedOnDisk(to: "b.md").movedOnServer(to: "b.md"),
            plan: "a.md: adopt",
            because: "a.md: adopted"),
        PlannerRow(
            "of two moves, the server's stands",
            file("a.md").movedOnDisk(to: "mine.md").movedOnServer(to: "theirs.md"),
            plan: "a.md: move on disk to theirs.md",
            because: "a.md: moved-on-both"),
        PlannerRow(
            "a folder takes along what is in it",
            folder("p").movedOnDisk(to: "q"),
            folder("p/in"),
            file("p/in/a.md"),
            plan: "p: move on server to q",
            because: "p: moved-on-disk"),
        PlannerRow(
            "a new entry goes to its folder wherever that is",
            folder("p").movedOnServer(to: "q"),
            file("p/new.md").newOnDisk(),
            plan: "p: move on disk to q", "p/new.md: upload",
            because: "p: moved-on-server", "p/new.md: created-on-disk"),
        PlannerRow(
            "an entry and the folder that it moves into move apart from each other",
            folder("q").movedOnServer(to: "r"),
            file("b.md").movedOnDisk(to: "q/b.md"),
            plan: "q: move on disk to r", "b.md: move on server to q/b.md",
            because: "q: moved-on-server", "b.md: moved-on-disk"),
        PlannerRow(
            "entries that never were synced go to the server's place",
            file("a.md").newOnBoth().movedOnServer(to: "b.md"),
            plan: "a.md: move on disk to b.md",
            because: "a.md: moved-on-server"),
    ]

    /// A location and a content that have both changed; the content's rule is reported, unless both sides have moved
    /// it.
    static let locationsAndContents: [PlannerRow] = [
        PlannerRow(
            "moved and edited on disk: both are done on the server",
            file("a.md").movedOnDisk(to: "b.md").editedOnDisk("2"),
            plan: "1. a.md: move on server to b.md", "2. a.md: upload",
            because: "a.md: edited-on-disk"),
        PlannerRow(
            "moved and edited on the server: the content comes to the new place",
            file("a.md").movedOnServer(to: "b.md").editedOnServer("2"),
            plan: "1. a.md: move on disk to b.md", "2. a.md: download to b.md",
            because: "a.md: edited-on-server"),
        PlannerRow(
            "moved on disk, edited on the server: the content comes to the disk's place",
            file("a.md").movedOnDisk(to: "b.md").editedOnServer("2"),
            plan: "a.md: move on server to b.md", "a.md: download to b.md",
            because: "a.md: edited-on-server"),
        PlannerRow(
            "moved on the server, edited on disk: the content goes to the same entry",
            file("a.md").movedOnServer(to: "b.md").editedOnDisk("2"),
            plan: "a.md: move on disk to b.md", "a.md: upload",
            because: "a.md: edited-on-disk"),
        PlannerRow(
            "moved on both sides, edited on disk: the server's place, the disk's content",
            file("a.md").movedOnDisk(to: "mine.md").movedOnServer(to: "theirs.md").editedOnDisk("2"),
            plan: "a.md: move on disk to theirs.md", "a.md: upload",
            because: "a.md: moved-on-both"),
        PlannerRow(
            "moved and edited on both sides: the copy comes beside the server's place",
            file("a.md").movedOnDisk(to: "x.md").movedOnServer(to: "y.md").editedOnDisk("2").editedOnServer("3"),
            plan: "1. a.md: move on disk to y.md", "2. a.md: resolve, copy 'y (conflict 1970-01-01 0000).md'",
            because: "a.md: moved-on-both"),
        PlannerRow(
            "moved on disk, edited on both sides: the copy has the new name",
            file("a.md").movedOnDisk(to: "b.md").editedOnDisk("2").editedOnServer("3"),
            plan: "a.md: move on server to b.md", "a.md: resolve, copy 'b (conflict 1970-01-01 0000).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "a file edited on the server in a folder that moves on disk comes to the file, wherever that is",
            folder("p").movedOnDisk(to: "q"),
            file("p/a.md").editedOnServer("2"),
            plan: "p: move on server to q", "p/a.md: download",
            because: "p: moved-on-disk", "p/a.md: edited-on-server"),
    ]

    /// Names that are one to the server: letter case and composition do not count.
    static let spellings: [PlannerRow] = [
        PlannerRow(
            "a rename that changes the letter case alone is a move like others, on disk",
            file("a.md").movedOnDisk(to: "A.md"),
            plan: "a.md: move on server to A.md",
            because: "a.md: moved-on-disk"),
        PlannerRow(
            "a rename that changes the letter case alone is a move like others, on the server",
            folder("p").movedOnServer(to: "P"),
            plan: "p: move on disk to P",
            because: "p: moved-on-server"),
        PlannerRow(
            "each side keeps the spelling that it has had from the start",
            file("a.md").spelledOnServer("A.md"),
            plan: "nothing"),
        PlannerRow(
            "an edit leaves both spellings as they are",
            file("a.md").spelledOnServer("A.md").editedOnServer("2"),
            plan: "a.md: download",
            because: "a.md: edited-on-server"),
        PlannerRow(
            "names that differ in composition alone agree",
            file("e\u{301}.md").newOnBoth().movedOnServer(to: "\u{e9}.md"),
            plan: "e\u{301}.md: adopt",
            because: "e\u{301}.md: adopted"),
        PlannerRow(
            "names that never were synced and differ in letter case become the server's",
            file("a.md").newOnBoth().movedOnServer(to: "A.md"),
            plan: "a.md: move on disk to A.md",
            because: "a.md: moved-on-server"),
    ]
}
