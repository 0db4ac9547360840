extension PlannerRow {
    /// One file, at the same place on both sides.
    static let contents: [PlannerRow] = [
        PlannerRow("what both sides have as it was is left alone", file("a.md"), plan: "nothing"),
        PlannerRow(
            "an edit on disk goes to the server",
            file("a.md").editedOnDisk("2"),
            plan: "a.md: upload",
            because: "a.md: edited-on-disk"),
        PlannerRow(
            "an edit on the server comes to the disk",
            file("a.md").editedOnServer("2"),
            plan: "a.md: download",
            because: "a.md: edited-on-server"),
        PlannerRow(
            "the same edit on both sides is no conflict: it is remembered as synced",
            file("a.md").editedOnDisk("2").editedOnServer("2"),
            plan: "a.md: adopt",
            because: "a.md: adopted"),
        PlannerRow(
            "two edits are resolved: merged, or the disk's becomes a copy named by its hash",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "a new revision with the content that is known costs nothing",
            file("a.md").newRevision(),
            plan: "a.md: adopt",
            because: "a.md: adopted"),
        PlannerRow(
            "a new file on disk goes to the server",
            file("a.md").newOnDisk(),
            plan: "a.md: upload",
            because: "a.md: created-on-disk"),
        PlannerRow(
            "a new file on the server comes to the disk",
            file("a.md").newOnServer(),
            plan: "a.md: download",
            because: "a.md: created-on-server"),
        PlannerRow(
            "files of which nobody knows how they were are adopted when they are equal",
            file("a.md").newOnBoth(),
            plan: "a.md: adopt",
            because: "a.md: adopted"),
        PlannerRow(
            "folders of which nobody knows how they were are adopted",
            folder("p").newOnBoth(),
            plan: "p: adopt",
            because: "p: adopted"),
        PlannerRow(
            "files of which nobody knows how they were are both kept when they differ",
            file("a.md").newOnBoth(disk: "2", server: "3"),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "what both sides have lost is forgotten",
            file("a.md").deletedOnDisk().deletedOnServer(),
            plan: "a.md: forget",
            because: "a.md: forgotten"),
        PlannerRow(
            "a folder that both sides have lost is forgotten with what was in it, each by itself",
            folder("p").deletedOnDisk().deletedOnServer(),
            file("p/a.md").deletedOnDisk().deletedOnServer(),
            plan: "p: forget", "p/a.md: forget",
            because: "p: forgotten", "p/a.md: forgotten"),
    ]

    /// The name of a conflict copy, and whether there has to be one.
    static let copies: [PlannerRow] = [
        PlannerRow(
            "the tag comes before the extension, and last where there is none",
            file("README").editedOnDisk("2").editedOnServer("3"),
            file(".profile").editedOnDisk("2").editedOnServer("3"),
            plan: "README: resolve, copy 'README (conflict 1970-01-01 0000)'",
            ".profile: resolve, copy '.profile (conflict 1970-01-01 0000)'",
            because: "README: edited-on-both", ".profile: edited-on-both"),
        PlannerRow(
            "a copy's name that another file has gets a number",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md"),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000 2).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "a copy's name that a folder has on the server gets a number, in whatever letter case",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            folder("A (Conflict 1970-01-01 0000).md").newOnServer(),
            plan: "A (Conflict 1970-01-01 0000).md: make on disk",
            "a.md: resolve, copy 'a (conflict 1970-01-01 0000 2).md'",
            because: "a.md: edited-on-both", "A (Conflict 1970-01-01 0000).md: created-on-server"),
        PlannerRow(
            "a copy that is there with the content already is not made again",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").holding("2"),
            plan: "a.md: download",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "a copy that an earlier try has left on disk is not made again",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").newOnDisk("2"),
            plan: "a.md: download", "a (conflict 1970-01-01 0000).md: upload",
            because: "a.md: edited-on-both", "a (conflict 1970-01-01 0000).md: created-on-disk"),
        PlannerRow(
            "a copy that another device has sent is not made again",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").newOnServer("2"),
            plan: "a.md: download", "a (conflict 1970-01-01 0000).md: download",
            because: "a.md: edited-on-both", "a (conflict 1970-01-01 0000).md: created-on-server"),
        PlannerRow(
            "a copy that is about to be deleted does not keep the content",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").holding("2").deletedOnServer(),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000 2).md'", "a (conflict 1970-01-01 0000).md: trash",
            because: "a.md: edited-on-both", "a (conflict 1970-01-01 0000).md: deleted-on-server"),
        PlannerRow(
            "a copy that is excluded does not keep the content",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").newOnServer("2").excluded(),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000 2).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "a copy that cannot be read does not keep the content",
            file("a.md").editedOnDisk("2").editedOnServer("3"),
            file("a (conflict 1970-01-01 0000).md").newOnDisk("2").frozen(),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000 2).md'",
            "a (conflict 1970-01-01 0000).md is frozen",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "where the server tells no hash, the copy is made again, since both may be equal",
            file("a.md").editedOnDisk("2").newRevision().unreported(),
            file("a (conflict 1970-01-01 0000).md").newOnDisk("2"),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000 2).md'", "a (conflict 1970-01-01 0000).md: upload",
            because: "a.md: edited-on-both", "a (conflict 1970-01-01 0000).md: created-on-disk"),
    ]

    /// Files that nobody has read, and a server that sends no hashes.
    static let hashes: [PlannerRow] = [
        PlannerRow(
            "a file that was touched is read before anything is decided",
            file("a.md").unread(),
            plan: "a.md: read"),
        PlannerRow(
            "a download never replaces what nobody has read",
            file("a.md").unread().editedOnServer("2"),
            plan: "a.md: read"),
        PlannerRow(
            "a deletion never takes what nobody has read",
            file("a.md").unread().deletedOnServer(),
            plan: "a.md: read"),
        PlannerRow(
            "a folder's deletion waits for what has to be read in it",
            folder("p").deletedOnServer(),
            file("p/a.md").unread().deletedOnServer(),
            plan: "p/a.md: read", "p waits for p/a.md in it"),
        PlannerRow(
            "a new file is sent without being read before",
            file("a.md").newOnDisk().unread(),
            plan: "a.md: upload",
            because: "a.md: created-on-disk"),
        PlannerRow(
            "a move needs no hash: the place is decided apart from the content",
            file("a.md").unread().movedOnDisk(to: "b.md"),
            plan: "a.md: move on server to b.md", "a.md: read",
            because: "a.md: moved-on-disk"),
        PlannerRow(
            "a file moved on disk is kept, whether or not it was edited as well",
            file("a.md").unread().movedOnDisk(to: "b.md").deletedOnServer(),
            plan: "a.md: cancel the deletion",
            because: "a.md: kept"),
        PlannerRow(
            "a new file is read when the server has one of its name, since both may be equal",
            file("a.md").called("mine").newOnDisk().unread(),
            file("a.md").called("theirs").newOnServer(),
            plan: "mine: read", "mine waits for the name of theirs", "theirs waits for the name of mine"),
        PlannerRow(
            "without hashes, the revision that is synced is the content that is known",
            file("a.md").unreported(),
            plan: "nothing"),
        PlannerRow(
            "without hashes, a new revision is an edit",
            file("a.md").newRevision().unreported(),
            plan: "a.md: download",
            because: "a.md: edited-on-server"),
        PlannerRow(
            "without hashes, an edit on disk goes to the revision that is known",
            file("a.md").editedOnDisk("2").unreported(),
            plan: "a.md: upload",
            because: "a.md: edited-on-disk"),
        PlannerRow(
            "without hashes, an edit beside a new revision has to be resolved",
            file("a.md").editedOnDisk("2").newRevision().unreported(),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "without hashes, a new revision is kept against a deletion on disk",
            file("a.md").deletedOnDisk().newRevision().unreported(),
            plan: "a.md: cancel the deletion",
            because: "a.md: kept"),
        PlannerRow(
            "without hashes, nobody can tell whether files that never were synced are equal",
            file("a.md").newOnBoth().unreported(),
            plan: "a.md: resolve, copy 'a (conflict 1970-01-01 0000).md'",
            because: "a.md: edited-on-both"),
        PlannerRow(
            "without hashes, new files of one name do not become one",
            file("a.md").called("mine").newOnDisk(),
            file("a.md").called("theirs").newOnServer().unreported(),
            plan: "1. mine: move on disk to a (conflict 1970-01-01 0000).md", "2. theirs: download",
            because: "mine: name-clash", "theirs: created-on-server"),
    ]
}
