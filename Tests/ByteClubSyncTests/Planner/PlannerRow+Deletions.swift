extension PlannerRow {
    /// Entries that one side has lost.
    static let deletions: [PlannerRow] = [
        PlannerRow(
            "a file deleted on disk is deleted on the server",
            file("a.md").deletedOnDisk(),
            plan: "a.md: delete on server",
            because: "a.md: deleted-on-disk"),
        PlannerRow(
            "a file deleted on the server goes into the trash on disk",
            file("a.md").deletedOnServer(),
            plan: "a.md: trash",
            because: "a.md: deleted-on-server"),
        PlannerRow(
            "an edit on the server cancels the disk's deletion; the next plan finds a new file",
            file("a.md").deletedOnDisk().editedOnServer("2"),
            plan: "a.md: cancel the deletion",
            because: "a.md: kept"),
        PlannerRow(
            "an edit on disk cancels the server's deletion",
            file("a.md").editedOnDisk("2").deletedOnServer(),
            plan: "a.md: cancel the deletion",
            because: "a.md: kept"),
        PlannerRow(
            "a move on the server cancels the disk's deletion",
            file("a.md").deletedOnDisk().movedOnServer(to: "b.md"),
            plan: "a.md: cancel the deletion",
            because: "a.md: kept"),
        PlannerRow(
            "a move on disk cancels the server's deletion",
            folder("p").movedOnDisk(to: "q").deletedOnServer(),
            plan: "p: cancel the deletion",
            because: "p: kept"),
    ]

    /// Folders that one side has lost: what is in them decides.
    static let folderDeletions: [PlannerRow] = [
        PlannerRow(
            "a folder deleted on disk is deleted by one request, with all that is in it",
            folder("p").deletedOnDisk(),
            folder("p/in").deletedOnDisk(),
            file("p/in/a.md").deletedOnDisk(),
            file("p/b.md").deletedOnDisk(),
            plan: "p: delete on server",
            because: "p: deleted-on-disk", "p/in: deleted-on-disk", "p/in/a.md: deleted-on-disk",
            "p/b.md: deleted-on-disk"),
        PlannerRow(
            "a folder deleted on the server goes into the trash after what is in it",
            folder("p").deletedOnServer(),
            folder("p/in").deletedOnServer(),
            file("p/in/a.md").deletedOnServer(),
            file("p/b.md").deletedOnServer(),
            plan: "1. p/in/a.md: trash", "1. p/b.md: trash", "2. p/in: trash", "3. p: trash",
            because: "p: deleted-on-server", "p/in: deleted-on-server", "p/in/a.md: deleted-on-server",
            "p/b.md: deleted-on-server"),
        PlannerRow(
            "asked about a folder alone, the planner decides about what is in it as well",
            folder("p").deletedOnServer(),
            file("p/a.md").deletedOnServer(),
            plan: "1. p/a.md: trash", "2. p: trash",
            because: "p: deleted-on-server", "p/a.md: deleted-on-server"
        ).asking("p"),
        PlannerRow(
            "asked about a file in a folder that goes by one request, the planner has nothing to do",
            folder("p").deletedOnDisk(),
            file("p/a.md").deletedOnDisk(),
            plan: "nothing",
            because: "p/a.md: deleted-on-disk"
        ).asking("p/a.md"),
        PlannerRow(
            "an edit in it keeps a folder that the disk has deleted, but not its neighbours",
            folder("p").deletedOnDisk(),
            file("p/edited.md").deletedOnDisk().editedOnServer("2"),
            file("p/other.md").deletedOnDisk(),
            plan: "p: cancel the deletion", "p/edited.md: cancel the deletion", "p/other.md: delete on server",
            because: "p: kept", "p/edited.md: kept", "p/other.md: deleted-on-disk"),
        PlannerRow(
            "an edit in it keeps a folder that the server has deleted, and those above",
            folder("p").deletedOnServer(),
            folder("p/in").deletedOnServer(),
            file("p/in/edited.md").editedOnDisk("2").deletedOnServer(),
            file("p/in/other.md").deletedOnServer(),
            plan: "p: cancel the deletion", "p/in: cancel the deletion", "p/in/edited.md: cancel the deletion",
            "p/in/other.md: trash",
            because: "p: kept", "p/in: kept", "p/in/edited.md: kept", "p/in/other.md: deleted-on-server"),
        PlannerRow(
            "a new file on disk keeps its folder, and waits until that is back",
            folder("p").deletedOnServer(),
            file("p/new.md").newOnDisk(),
            plan: "p: cancel the deletion", "p/new.md waits for folder p",
            because: "p: kept"),
        PlannerRow(
            "a new file on the server keeps its folder, and waits until that is back",
            folder("p").deletedOnDisk(),
            file("p/new.md").newOnServer(),
            plan: "p: cancel the deletion", "p/new.md waits for folder p",
            because: "p: kept"),
        PlannerRow(
            "a file that the server has moved into it keeps a folder",
            folder("p").deletedOnDisk(),
            file("a.md").movedOnServer(to: "p/a.md"),
            plan: "p: cancel the deletion", "a.md waits for folder p",
            because: "p: kept"),
        PlannerRow(
            "a file that the disk has moved into it keeps a folder",
            folder("p").deletedOnServer(),
            file("a.md").movedOnDisk(to: "p/a.md"),
            plan: "p: cancel the deletion", "a.md waits for folder p",
            because: "p: kept"),
        PlannerRow(
            "what the disk has moved out of a folder moves before the folder goes",
            folder("p").deletedOnDisk(),
            file("p/a.md").movedOnDisk(to: "a.md"),
            plan: "1. p/a.md: move on server to a.md", "2. p: delete on server",
            because: "p: deleted-on-disk", "p/a.md: moved-on-disk"),
        PlannerRow(
            "what the server has moved out of a folder moves before the folder goes",
            folder("p").deletedOnServer(),
            file("p/a.md").movedOnServer(to: "a.md"),
            plan: "1. p/a.md: move on disk to a.md", "2. p: trash",
            because: "p: deleted-on-server", "p/a.md: moved-on-server"),
        PlannerRow(
            "a folder gets a temporary name for one that comes out of it to take its name",
            folder("p").deletedOnServer(),
            folder("p/p").movedOnServer(to: "p"),
            plan: "1. p: move on disk to p (moving 1)", "2. p/p: move on disk to p", "3. p: trash",
            because: "p: deleted-on-server", "p/p: moved-on-server"),
        PlannerRow(
            "a folder waits for what has to leave it and cannot yet",
            folder("p").deletedOnServer(),
            file("p/a.md").movedOnServer(to: "b.md"),
            file("b.md").deletedOnServer(),
            plan: "b.md: trash", "p waits for p/a.md in it", "p/a.md waits for the name of b.md",
            because: "b.md: deleted-on-server"),
        PlannerRow(
            "a folder waits for what leaves it under a conflict name",
            folder("p").deletedOnDisk(),
            file("p/a.md").movedOnDisk(to: "a.md"),
            file("a.md").newOnServer("2"),
            plan: "1. p/a.md: move on disk to a (conflict 1970-01-01 0000).md", "2. a.md: download",
            "p waits for p/a.md in it",
            because: "p/a.md: name-clash", "a.md: created-on-server"),
        PlannerRow(
            "something ignored does not keep a folder's files on disk: the folder is left over for it",
            folder("p").deletedOnServer(),
            file("p/a.md").deletedOnServer(),
            file("p/ignored.o").newOnDisk().excluded(),
            plan: "1. p/a.md: trash", "2. p: trash", "p/ignored.o is frozen",
            because: "p: deleted-on-server", "p/a.md: deleted-on-server"),
        PlannerRow(
            "a folder that is left over does not keep the one that it is in",
            folder("p").deletedOnServer(),
            folder("p/left").leftOver(),
            plan: "p: trash",
            because: "p: deleted-on-server"),
        PlannerRow(
            "something excluded keeps a folder on the server: the disk never had it, so nobody has deleted it",
            folder("p").deletedOnDisk(),
            file("p/a.md").deletedOnDisk(),
            file("p/excluded.md").newOnServer().excluded(),
            plan: "p: cancel the deletion", "p/a.md: delete on server",
            because: "p: kept", "p/a.md: deleted-on-disk"),
        PlannerRow(
            "a folder waits for what cannot be read in it",
            folder("p").deletedOnServer(),
            file("p/locked.md").deletedOnServer().frozen(),
            plan: "p is frozen by p/locked.md", "p/locked.md is frozen"),
        PlannerRow(
            "one thing that stays is enough, whatever others wait for",
            folder("p").deletedOnServer(),
            file("p/locked.md").deletedOnServer().frozen(),
            file("p/new.md").newOnDisk(),
            plan: "p: cancel the deletion", "p/locked.md is frozen", "p/new.md waits for folder p",
            because: "p: kept"),
    ]
}
