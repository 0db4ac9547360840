/// The rows of the decision tables, a scenario or more for each.
extension CrashScenario {
    static var curated: [Self] { oneSided + notes + locations + deletions + clashes + wholes }

    private static let bigText = String(repeating: "0123456789abcdef", count: 5_000) + "\n"

    /// What one member does while the other does nothing.
    private static let oneSided: [Self] = [
        Self(name: "a new note", mine: [.write("n.md", "new\n")], makes: ["n.md": "new\n"]),
        Self(
            name: "a new note in new folders", mine: [.write("s/t/n.md", "new\n")],
            makes: ["s/": "", "s/t/": "", "s/t/n.md": "new\n"]),
        Self(name: "an edited note", mine: [.write("a.md", "one\n2\n")], makes: ["a.md": "one\n2\n"]),
        Self(name: "a note saved by rename", mine: [.save("a.md", "one\n2\n")], makes: ["a.md": "one\n2\n"]),
        Self(
            name: "a note saved with a backup", mine: [.saveWithBackup("b.md", "bee 2\n")],
            makes: ["b.md": "bee 2\n", "b.md.bak": "bee\n"]),
        Self(name: "a renamed file", mine: [.move("b.md", to: "bb.md")], makes: ["b.md": nil, "bb.md": "bee\n"]),
        Self(name: "a moved file", mine: [.move("b.md", to: "p/b.md")], makes: ["b.md": nil, "p/b.md": "bee\n"]),
        Self(
            name: "a moved and edited file", mine: [.move("b.md", to: "p/q/b.md"), .write("p/q/b.md", "bee 2\n")],
            makes: ["b.md": nil, "p/q/b.md": "bee 2\n"]),
        Self(
            name: "a file moved into a new folder", mine: [.move("b.md", to: "s/t/b.md")],
            makes: ["b.md": nil, "s/": "", "s/t/": "", "s/t/b.md": "bee\n"]),
        Self(
            name: "a file moved over another", mine: [.move("b.md", to: "a.md")], makes: ["b.md": nil, "a.md": "bee\n"]),
        Self(
            name: "a renamed folder", mine: [.move("p", to: "pp")],
            makes: [
                "p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "pp/": "", "pp/c.md": "cee\n", "pp/q/": "",
                "pp/q/d.md": "dee\n",
            ]),
        Self(
            name: "a moved folder with an edit in it", mine: [.move("p", to: "r/p"), .write("r/p/c.md", "cee 2\n")],
            makes: [
                "p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "r/p/": "", "r/p/c.md": "cee 2\n", "r/p/q/": "",
                "r/p/q/d.md": "dee\n",
            ]),
        Self(
            name: "a folder turned inside out", mine: [.move("p/q", to: "q"), .move("p", to: "q/p")],
            makes: [
                "p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "q/": "", "q/d.md": "dee\n", "q/p/": "",
                "q/p/c.md": "cee\n",
            ]),
        Self(
            name: "two files that exchange names", mine: [.rotate(["a.md", "b.md"])],
            makes: ["a.md": "bee\n", "b.md": "one\ntwo\nthree\nfour\n"]),
        Self(
            name: "three files that exchange names", mine: [.rotate(["a.md", "b.md", "p/c.md"])],
            makes: ["a.md": "cee\n", "b.md": "one\ntwo\nthree\nfour\n", "p/c.md": "bee\n"]),
        Self(
            name: "two folders that exchange names", mine: [.rotate(["p", "r"])],
            makes: [
                "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "r/e.md": nil, "p/e.md": "eee\n", "r/c.md": "cee\n",
                "r/q/": "", "r/q/d.md": "dee\n",
            ]),
        Self(
            name: "files that move up in a row", mine: [.move("b.md", to: "z.md"), .move("a.md", to: "b.md")],
            makes: ["a.md": nil, "b.md": "one\ntwo\nthree\nfour\n", "z.md": "bee\n"]),
        Self(name: "another letter case", mine: [.move("b.md", to: "B.md")], makes: ["b.md": nil, "B.md": "bee\n"]),
        Self(
            name: "another letter case on disks that do not tell it", mine: [.move("b.md", to: "B.md")],
            makes: ["b.md": nil, "B.md": "bee\n"], foldsCase: true),
        Self(
            name: "another letter case of a folder on disks that do not tell it", mine: [.move("r", to: "R")],
            makes: ["r/": nil, "r/e.md": nil, "R/": "", "R/e.md": "eee\n"], foldsCase: true),
        Self(name: "a deleted file", mine: [.delete("b.md")], makes: ["b.md": nil]),
        Self(
            name: "a deleted folder", mine: [.delete("p")],
            makes: ["p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil]),
        Self(
            name: "a folder deleted but for a file moved out", mine: [.move("p/q/d.md", to: "d.md"), .delete("p")],
            makes: ["p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "d.md": "dee\n"]),
        Self(
            name: "a file that becomes a folder", mine: [.delete("b.md"), .write("b.md/x.md", "ex\n")],
            makes: ["b.md": nil, "b.md/": "", "b.md/x.md": "ex\n"]),
        Self(
            name: "a folder that becomes a file", mine: [.delete("r"), .write("r", "are\n")],
            makes: ["r/": nil, "r/e.md": nil, "r": "are\n"]),
        Self(
            name: "an entry deleted and made again", mine: [.delete("b.md"), .write("b.md", "another\n")],
            makes: ["b.md": "another\n"]),
        Self(name: "a second name of a file", mine: [.link("b.md", to: "l.md")], makes: ["l.md": "bee\n"]),
        Self(
            name: "a batch of new notes", mine: (1...9).map { .write("s/n\($0).md", "new \($0)\n") },
            makes: (1...9).reduce(into: ["s/": ""]) { $0["s/n\($1).md"] = "new \($1)\n" }),
    ]

    /// What both do to a file's content.
    private static let notes: [Self] = [
        Self(
            name: "edits that merge", mine: [.write("a.md", "one\ntwo\nthree\n4\n")],
            theirs: [.save("a.md", "1\ntwo\nthree\nfour\n")], makes: ["a.md": "1\ntwo\nthree\n4\n"],
            otherMakes: [
                ["a.md": "1\ntwo\nthree\nfour\n", copy("a.md", ""): "one\ntwo\nthree\n4\n"],
                ["a.md": "one\ntwo\nthree\n4\n", copy("a.md", ""): "1\ntwo\nthree\nfour\n"],
            ]),
        Self(
            name: "edits that do not merge", mine: [.write("b.md", "mine\n")], theirs: [.write("b.md", "theirs\n")],
            makes: ["b.md": "theirs\n", copy("b.md", "mine\n"): "mine\n"],
            mirroredMakes: ["b.md": "mine\n", copy("b.md", "theirs\n"): "theirs\n"]),
        Self(
            name: "the same edit", mine: [.write("b.md", "both\n")], theirs: [.save("b.md", "both\n")],
            makes: ["b.md": "both\n"]),
        Self(
            name: "an edit of what the other moved", mine: [.write("b.md", "bee 2\n")],
            theirs: [.move("b.md", to: "p/b.md")], makes: ["b.md": nil, "p/b.md": "bee 2\n"]),
        Self(
            name: "an edit in a folder that the other moved", mine: [.save("p/q/d.md", "dee 2\n")],
            theirs: [.move("p", to: "r/p")],
            makes: [
                "p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "r/p/": "", "r/p/c.md": "cee\n", "r/p/q/": "",
                "r/p/q/d.md": "dee 2\n",
            ]),
        Self(
            // The server has the earlier content at the earlier path only, so there is no base for a merge.
            name: "edits of what one has moved",
            mine: [.write("a.md", "one\ntwo\nthree\n4\n"), .move("a.md", to: "p/a.md")],
            theirs: [.write("a.md", "1\ntwo\nthree\nfour\n")],
            makes: [
                "a.md": nil, "p/a.md": "1\ntwo\nthree\nfour\n",
                copy("p/a.md", "one\ntwo\nthree\n4\n"): "one\ntwo\nthree\n4\n",
            ],
            mirroredMakes: [
                "a.md": nil, "p/a.md": "one\ntwo\nthree\n4\n",
                copy("p/a.md", "1\ntwo\nthree\nfour\n"): "1\ntwo\nthree\nfour\n",
            ],
            otherMakes: [
                ["a.md": nil, "p/a.md": "1\ntwo\nthree\n4\n"],
                [
                    "a.md": nil, "p/a.md": "one\ntwo\nthree\n4\n",
                    copy("a.md", ""): "1\ntwo\nthree\nfour\n",
                ],
            ]),
    ]

    /// What both do to places.
    private static let locations: [Self] = [
        Self(
            name: "one file moved to two places", mine: [.move("b.md", to: "mine.md")],
            theirs: [.move("b.md", to: "p/theirs.md")], makes: ["b.md": nil, "p/theirs.md": "bee\n"],
            mirroredMakes: ["b.md": nil, "mine.md": "bee\n"]),
        Self(
            name: "one file moved to one place by both", mine: [.move("b.md", to: "p/b.md")],
            theirs: [.move("b.md", to: "p/b.md")], makes: ["b.md": nil, "p/b.md": "bee\n"]),
        Self(
            name: "one folder moved to two places", mine: [.move("r", to: "p/r")], theirs: [.move("r", to: "s")],
            makes: ["r/": nil, "r/e.md": nil, "s/": "", "s/e.md": "eee\n"],
            mirroredMakes: ["r/": nil, "r/e.md": nil, "p/r/": "", "p/r/e.md": "eee\n"]),
        Self(
            name: "two folders moved into each other", mine: [.move("p", to: "r/p")], theirs: [.move("r", to: "p/r")],
            makes: ["r/": nil, "r/e.md": nil, "p/r/": "", "p/r/e.md": "eee\n"],
            mirroredMakes: [
                "p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "r/p/": "", "r/p/c.md": "cee\n", "r/p/q/": "",
                "r/p/q/d.md": "dee\n",
            ]),
        Self(
            name: "a file moved into a folder that the other moved", mine: [.move("b.md", to: "r/b.md")],
            theirs: [.move("r", to: "p/q/r")],
            makes: ["b.md": nil, "r/": nil, "r/e.md": nil, "p/q/r/": "", "p/q/r/e.md": "eee\n", "p/q/r/b.md": "bee\n"]),
        Self(
            name: "a file moved to a name that the other has used", mine: [.move("b.md", to: "n.md")],
            theirs: [.write("n.md", "new\n")],
            makes: ["b.md": nil, "n.md": "new\n", copy("n.md", "bee\n"): "bee\n"],
            mirroredMakes: ["b.md": nil, "n.md": "bee\n", copy("n.md", "new\n"): "new\n"]),
    ]

    /// What one deletes and the other changes.
    private static let deletions: [Self] = [
        Self(
            name: "a deletion of what the other edited", mine: [.delete("b.md")], theirs: [.write("b.md", "bee 2\n")],
            makes: ["b.md": "bee 2\n"]),
        Self(
            name: "a deletion of what the other moved", mine: [.delete("b.md")], theirs: [.move("b.md", to: "p/b.md")],
            makes: ["b.md": nil, "p/b.md": "bee\n"]),
        Self(
            name: "a deletion of what the other moved and edited", mine: [.delete("b.md")],
            theirs: [.move("b.md", to: "p/b.md"), .write("p/b.md", "bee 2\n")],
            makes: ["b.md": nil, "p/b.md": "bee 2\n"]),
        Self(name: "a deletion by both", mine: [.delete("b.md")], theirs: [.delete("b.md")], makes: ["b.md": nil]),
        Self(
            name: "a deletion of a folder in which the other edited", mine: [.delete("p")],
            theirs: [.write("p/c.md", "cee 2\n")], makes: ["p/c.md": "cee 2\n", "p/q/": nil, "p/q/d.md": nil]),
        Self(
            name: "a deletion of a folder in which the other made a note", mine: [.delete("p")],
            theirs: [.write("p/q/n.md", "new\n")], makes: ["p/c.md": nil, "p/q/d.md": nil, "p/q/n.md": "new\n"]),
        Self(
            name: "a deletion of a folder that the other moved", mine: [.delete("r")], theirs: [.move("r", to: "p/r")],
            makes: ["r/": nil, "r/e.md": nil, "p/r/": ""], mirroredMakes: ["r/": nil, "r/e.md": nil, "p/r/": ""]),
        Self(
            name: "a deletion of a folder from which the other moved a file", mine: [.delete("p")],
            theirs: [.move("p/c.md", to: "c.md")],
            makes: ["p/": nil, "p/c.md": nil, "p/q/": nil, "p/q/d.md": nil, "c.md": "cee\n"]),
        Self(
            name: "a deletion of a folder into which the other moved a file", mine: [.delete("r")],
            theirs: [.move("b.md", to: "r/b.md")], makes: ["b.md": nil, "r/e.md": nil, "r/b.md": "bee\n"]),
    ]

    /// Two entries under one name.
    private static let clashes: [Self] = [
        Self(
            name: "two new notes of one name", mine: [.write("n.md", "mine\n")], theirs: [.write("n.md", "theirs\n")],
            makes: ["n.md": "theirs\n", copy("n.md", "mine\n"): "mine\n"],
            mirroredMakes: ["n.md": "mine\n", copy("n.md", "theirs\n"): "theirs\n"]),
        Self(
            name: "two equal new notes of one name", mine: [.write("s/n.md", "both\n")],
            theirs: [.write("s/n.md", "both\n")], makes: ["s/": "", "s/n.md": "both\n"]),
        Self(
            name: "two new folders of one name", mine: [.write("s/mine.md", "mine\n"), .write("s/t/n.md", "new\n")],
            theirs: [.write("s/theirs.md", "theirs\n"), .write("s/t/n.md", "other\n")],
            makes: [
                "s/": "", "s/t/": "", "s/mine.md": "mine\n", "s/theirs.md": "theirs\n", "s/t/n.md": "other\n",
                copy("s/t/n.md", "new\n"): "new\n",
            ],
            mirroredMakes: [
                "s/": "", "s/t/": "", "s/mine.md": "mine\n", "s/theirs.md": "theirs\n", "s/t/n.md": "new\n",
                copy("s/t/n.md", "other\n"): "other\n",
            ]),
        Self(
            name: "a new note and a new folder of one name", mine: [.write("n", "new\n")],
            theirs: [.write("n/x.md", "ex\n")],
            makes: ["n/": "", "n/x.md": "ex\n", copy("n", "new\n"): "new\n"],
            mirroredMakes: ["n": "new\n", folderCopy("n") + "/": "", folderCopy("n") + "/x.md": "ex\n"]),
        Self(
            name: "two new notes whose names differ in letter case", mine: [.write("N.md", "mine\n")],
            theirs: [.write("n.md", "theirs\n")],
            makes: ["n.md": "theirs\n", copy("N.md", "mine\n"): "mine\n"],
            mirroredMakes: ["N.md": "mine\n", copy("n.md", "theirs\n"): "theirs\n"]),
        Self(
            name: "a new folder of the name that the other's file had",
            mine: [.delete("b.md"), .write("b.md/x.md", "ex\n")],
            theirs: [.write("b.md", "bee 2\n")],
            makes: ["b.md": "bee 2\n", folderCopy("b.md") + "/": "", folderCopy("b.md") + "/x.md": "ex\n"],
            mirroredMakes: ["b.md": nil, "b.md/": "", "b.md/x.md": "ex\n", copy("b.md", "bee 2\n"): "bee 2\n"]),
    ]

    /// What is about a whole mirror, and what is large.
    private static let wholes: [Self] = [
        Self(
            name: "a first sync of the same tree on both sides", start: [:],
            mine: [.write("a.md", "one\n"), .write("p/c.md", "cee\n"), .write("mine.md", "mine\n")],
            theirs: [.write("a.md", "one\n"), .write("p/c.md", "cee\n"), .write("p/theirs.md", "theirs\n")],
            makes: [
                "a.md": "one\n", "p/": "", "p/c.md": "cee\n", "mine.md": "mine\n", "p/theirs.md": "theirs\n",
            ]),
        Self(name: "a lost database", mine: [.loseDatabase]),
        Self(
            name: "a lost database and changes on both sides",
            mine: [.loseDatabase, .write("b.md", "bee 2\n"), .delete("r"), .write("n.md", "new\n")],
            theirs: [.write("a.md", "two\n"), .delete("p/c.md"), .write("p/q/n.md", "new\n")],
            makes: [
                "a.md": "two\n", copy("a.md", "one\ntwo\nthree\nfour\n"): "one\ntwo\nthree\nfour\n",
                copy("b.md", "bee 2\n"): "bee 2\n", "n.md": "new\n", "p/q/n.md": "new\n",
            ], hasMirrored: false),
        Self(name: "a folder left out", mine: [.deselect("p")], leftOut: "p", hasMirrored: false),
        Self(
            name: "a folder left out in which there is something new",
            mine: [.write("p/n.md", "new\n"), .write("p/c.md", "cee 2\n"), .deselect("p")],
            theirs: [.write("p/q/d.md", "dee 2\n")],
            makes: ["p/n.md": "new\n", "p/c.md": "cee 2\n", "p/q/d.md": "dee 2\n"], leftOut: "p", hasMirrored: false),
        Self(
            name: "a new rule that ignores some of it",
            mine: [.write(".byteclubignore", "r/\n"), .write("r/n.md", "new\n")], theirs: [.write("b.md", "bee 2\n")],
            makes: [".byteclubignore": "r/\n", "b.md": "bee 2\n"], mineAlone: ["r/n.md": "new\n"], hasMirrored: false),
        Self(
            name: "a large file, and one that is edited", mine: [.write("big", bigText), .write("a.md", "one\n")],
            makes: ["big": bigText, "a.md": "one\n"]),
    ]
}
