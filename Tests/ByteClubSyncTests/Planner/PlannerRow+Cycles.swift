extension PlannerRow {
    /// Folders that come to lie in each other.
    static let cycles: [PlannerRow] = [
        PlannerRow(
            "folders moved into each other, each on its side: the server's move stands, the disk's is undone",
            folder("p").movedOnDisk(to: "q/p"),
            folder("q").movedOnServer(to: "p/q"),
            plan: "1. p: move on disk to p", "2. q: move on disk to p/q",
            because: "p: cycle", "q: moved-on-server"),
        PlannerRow(
            "so it is, whichever is asked about first",
            folder("q").movedOnServer(to: "p/q"),
            folder("p").movedOnDisk(to: "q/p"),
            plan: "1. p: move on disk to p", "2. q: move on disk to p/q",
            because: "q: moved-on-server", "p: cycle"),
        PlannerRow(
            "a cycle over a folder that has not moved is one as well",
            folder("p").movedOnDisk(to: "q/in/p"),
            folder("q").movedOnServer(to: "p/q"),
            folder("q/in"),
            plan: "1. p: move on disk to p", "2. q: move on disk to p/q",
            because: "p: cycle", "q: moved-on-server"),
        PlannerRow(
            "a cycle of three folders is broken by the move that would close it",
            folder("a").movedOnDisk(to: "b/a"),
            folder("b").movedOnDisk(to: "c/b"),
            folder("c").movedOnServer(to: "a/c"),
            plan: "1. a: move on server to b/a", "1. b: move on disk to b", "2. c: move on disk to a/c",
            because: "a: moved-on-disk", "b: cycle", "c: moved-on-server"),
        PlannerRow(
            "a move is undone though a new entry has the old name: that one gives way",
            folder("p").movedOnDisk(to: "q/p"),
            folder("q").movedOnServer(to: "p/q"),
            file("p").called("new").newOnDisk("2"),
            plan: "1. new: move on disk to p (conflict 1970-01-01 0000)", "2. p: move on disk to p",
            "3. q: move on disk to p/q",
            because: "p: cycle", "q: moved-on-server", "new: name-clash"),
        PlannerRow(
            "a move that is undone waits for its old name as long as that is frozen",
            folder("p").movedOnDisk(to: "q/p"),
            folder("q").movedOnServer(to: "p/q"),
            file("p").called("locked").newOnDisk("2").frozen(),
            plan: "p waits for the name of locked", "q waits for folder p", "locked is frozen",
            because: "p: cycle"),
        PlannerRow(
            "content goes on while places are undone",
            folder("p").movedOnDisk(to: "q/p"),
            folder("q").movedOnServer(to: "p/q"),
            file("p/a.md").editedOnDisk("2"),
            plan: "1. p: move on disk to p", "2. q: move on disk to p/q", "3. p/a.md: upload",
            because: "p: cycle", "q: moved-on-server", "p/a.md: edited-on-disk"),
        PlannerRow(
            "parent and child exchanged on one side are no cycle: the child comes out first",
            folder("a").movedOnDisk(to: "a/b/a"),
            folder("a/b").movedOnDisk(to: "b"),
            plan: "1. a/b: move on server to b", "2. a: move on server to a/b/a",
            because: "a: moved-on-disk", "a/b: moved-on-disk"),
        PlannerRow(
            "folders may come to lie the other way round: a/b and c are b/c/a then",
            folder("a").movedOnServer(to: "c/a"),
            folder("a/b").movedOnServer(to: "b"),
            folder("c").movedOnServer(to: "a/b/c"),
            plan: "1. a: move on disk to c/a", "1. a/b: move on disk to b", "2. c: move on disk to a/b/c",
            because: "a: moved-on-server", "a/b: moved-on-server", "c: moved-on-server"),
        PlannerRow(
            "the child takes the parent's name: the parent gets a temporary name, then comes into the child",
            folder("x").called("outer").movedOnServer(to: "inner/x"),
            folder("outer/x").called("inner").movedOnServer(to: "x"),
            plan: "1. outer: move on disk to x (moving 1)", "2. inner: move on disk to x",
            "3. outer: move on disk to inner/x",
            because: "outer: moved-on-server", "inner: moved-on-server"),
        PlannerRow(
            "the child asked about first, the parent gets a temporary name all the same, and into it by the next plan",
            folder("outer/x").called("inner").movedOnServer(to: "x"),
            folder("x").called("outer").movedOnServer(to: "inner/x"),
            plan: "1. outer: move on disk to x (moving 2)", "2. inner: move on disk to x",
            "outer waits for folder inner",
            because: "inner: moved-on-server"),
        PlannerRow(
            "a parent waits for a child that waits for its name",
            folder("a").movedOnDisk(to: "a/b/a"),
            folder("a/b").movedOnDisk(to: "b"),
            file("b").deletedOnDisk(),
            plan: "b: delete on server", "a waits for folder a/b", "a/b waits for the name of b",
            because: "b: deleted-on-disk"),
        PlannerRow(
            "a parent waits for a child that comes out under a conflict name",
            folder("a").movedOnDisk(to: "a/b/a"),
            folder("a/b").movedOnDisk(to: "b"),
            file("b").newOnServer(),
            plan: "1. a/b: move on disk to b (conflict 1970-01-01 0000)", "2. b: download", "a waits for folder a/b",
            because: "a/b: name-clash", "b: created-on-server"),
    ]
}
