extension PlannerRow {
    /// Names that pass from one entry to another: who waits, and who gets a temporary name.
    static let names: [PlannerRow] = [
        PlannerRow(
            "a chain of renames is done from its free end",
            file("a.md").movedOnDisk(to: "b.md"),
            file("b.md").movedOnDisk(to: "c.md"),
            file("c.md").movedOnDisk(to: "d.md"),
            plan: "1. c.md: move on server to d.md", "2. b.md: move on server to c.md",
            "3. a.md: move on server to b.md",
            because: "a.md: moved-on-disk", "b.md: moved-on-disk", "c.md: moved-on-disk"),
        PlannerRow(
            "of two names that are exchanged on disk, one entry gets a temporary name on the server",
            file("a.md").movedOnDisk(to: "b.md"),
            file("b.md").movedOnDisk(to: "a.md"),
            plan: "1. a.md: move on server to a (moving 1).md", "2. b.md: move on server to a.md",
            "3. a.md: move on server to b.md",
            because: "a.md: moved-on-disk", "b.md: moved-on-disk"),
        PlannerRow(
            "of two names that are exchanged on the server, one entry gets a temporary name on disk",
            file("a.md").movedOnServer(to: "b.md"),
            folder("b.md").movedOnServer(to: "a.md"),
            plan: "1. a.md: move on disk to a (moving 1).md", "2. b.md: move on disk to a.md",
            "3. a.md: move on disk to b.md",
            because: "a.md: moved-on-server", "b.md: moved-on-server"),
        PlannerRow(
            "of a ring of three names, one entry gets a temporary name",
            file("a").movedOnDisk(to: "b"),
            file("b").movedOnDisk(to: "c"),
            file("c").movedOnDisk(to: "a"),
            plan: "1. a: move on server to a (moving 1)", "2. c: move on server to a", "3. b: move on server to c",
            "4. a: move on server to b",
            because: "a: moved-on-disk", "b: moved-on-disk", "c: moved-on-disk"),
        PlannerRow(
            "names are exchanged between folders as well",
            folder("p"),
            folder("q"),
            file("p/x").movedOnServer(to: "q/x"),
            file("q/x").movedOnServer(to: "p/x"),
            plan: "1. p/x: move on disk to p/x (moving 3)", "2. q/x: move on disk to p/x",
            "3. p/x: move on disk to q/x",
            because: "p/x: moved-on-server", "q/x: moved-on-server"),
        PlannerRow(
            "a name to wait under that is taken gets a number",
            file("a.md").movedOnDisk(to: "b.md"),
            file("b.md").movedOnDisk(to: "a.md"),
            file("A (moving 1).md"),
            plan: "1. a.md: move on server to a (moving 1 2).md", "2. b.md: move on server to a.md",
            "3. a.md: move on server to b.md",
            because: "a.md: moved-on-disk", "b.md: moved-on-disk"),
        PlannerRow(
            "a new file takes the name that another has left: so editors save with a backup",
            file("a.md").movedOnDisk(to: "a.md~"),
            file("a.md").called("new").newOnDisk("2"),
            plan: "1. a.md: move on server to a.md~", "2. new: upload",
            because: "a.md: moved-on-disk", "new: created-on-disk"),
        PlannerRow(
            "a file moves into the new folder that takes its name: it gets a temporary name until the folder is there",
            file("x").called("file").movedOnServer(to: "new/x"),
            folder("x").called("new").newOnServer(),
            plan: "1. file: move on disk to x (moving 1)", "2. new: make on disk", "3. file: move on disk to new/x",
            because: "file: moved-on-server", "new: created-on-server"),
        PlannerRow(
            "the folder asked about first, the file gets a temporary name all the same, and into it by the next plan",
            folder("x").called("new").newOnServer(),
            file("x").called("file").movedOnServer(to: "new/x"),
            plan: "1. file: move on disk to x (moving 2)", "2. new: make on disk", "file waits for folder new",
            because: "new: created-on-server"),
    ]

    /// Names that another still has when the plan is done.
    static let waitingForNames: [PlannerRow] = [
        PlannerRow(
            "a name becomes free by a deletion on disk: deletions come last, so the new one waits for the next plan",
            file("a.md").deletedOnDisk(),
            file("b.md").movedOnDisk(to: "a.md"),
            plan: "a.md: delete on server", "b.md waits for the name of a.md",
            because: "a.md: deleted-on-disk"),
        PlannerRow(
            "a file that has become a folder waits as well, and what is in it waits for the folder",
            file("x").called("file").deletedOnServer(),
            folder("x").newOnServer(),
            file("x/in.md").newOnServer(),
            plan: "file: trash", "x waits for the name of file", "x/in.md waits for folder x",
            because: "file: deleted-on-server"),
        PlannerRow(
            "an entry that is kept from its deletion has its name until it is new",
            file("a.md").editedOnDisk("2").deletedOnServer(),
            file("a.md").called("theirs").newOnServer("3"),
            plan: "a.md: cancel the deletion", "theirs waits for the name of a.md",
            because: "a.md: kept"),
        PlannerRow(
            "an entry that both have lost has no name that one could wait for",
            file("a.md").deletedOnDisk().deletedOnServer(),
            file("b.md").movedOnServer(to: "a.md"),
            plan: "a.md: forget", "b.md: move on disk to a.md",
            because: "a.md: forgotten", "b.md: moved-on-server"),
        PlannerRow(
            "who waits for a name keeps others from the one that it has",
            file("a.md").deletedOnDisk(),
            file("b.md").movedOnDisk(to: "a.md"),
            file("c.md").movedOnDisk(to: "b.md"),
            plan: "a.md: delete on server", "b.md waits for the name of a.md", "c.md waits for the name of b.md",
            because: "a.md: deleted-on-disk"),
        PlannerRow(
            "a name is not free as long as the one that has it is frozen",
            file("a.md").movedOnServer(to: "b.md").frozen(),
            file("a.md").called("new").newOnServer(),
            plan: "a.md is frozen", "new waits for the name of a.md"),
        PlannerRow(
            "a name on disk is not free as long as something excluded has it",
            file("a.md").called("ignored").newOnDisk().excluded(),
            file("a.md").newOnServer(),
            plan: "a.md waits for the name of ignored"),
    ]

    /// Entries that a plan or a crash has left under temporary names.
    static let temporaryNames: [PlannerRow] = [
        PlannerRow(
            "a temporary name on disk is no move: the entry goes back to the server's place",
            file("a.md").movedOnDisk(to: "a (moving 1).md"),
            plan: "a.md: move on disk to a.md",
            because: "a.md: moved-on-both"),
        PlannerRow(
            "a temporary name on the server is no move: the entry goes back to the disk's place",
            file("a.md").movedOnServer(to: "a (moving 1).md"),
            plan: "a.md: move on server to a.md",
            because: "a.md: moved-on-disk"),
        PlannerRow(
            "the name of another one's number is a name like others",
            file("a.md").movedOnServer(to: "a (moving 7).md"),
            plan: "a.md: move on disk to a (moving 7).md",
            because: "a.md: moved-on-server"),
        PlannerRow(
            "the disk's move stands against a temporary name on the server",
            file("a.md").movedOnDisk(to: "b.md").movedOnServer(to: "a (moving 1).md"),
            plan: "a.md: move on server to b.md",
            because: "a.md: moved-on-disk"),
        PlannerRow(
            "a temporary name keeps no entry from its deletion on disk",
            file("a.md").movedOnDisk(to: "a (moving 1).md").deletedOnServer(),
            plan: "a.md: trash",
            because: "a.md: deleted-on-server"),
        PlannerRow(
            "a temporary name keeps no entry from its deletion on the server",
            file("a.md").movedOnServer(to: "a (moving 1 2).md").deletedOnDisk(),
            plan: "a.md: delete on server",
            because: "a.md: deleted-on-disk"),
        PlannerRow(
            "a conflict copy is named after the name that somebody chose",
            file("a").movedOnDisk(to: "a (moving 1)").movedOnServer(to: "b").editedOnDisk("2").editedOnServer("3"),
            plan: "a: move on disk to b", "a: resolve, copy 'b (conflict 1970-01-01 0000)'",
            because: "a: moved-on-both"),
    ]
}
