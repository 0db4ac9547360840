/// The same rows where there is less to build on.
extension CrashScenario {
    /// All of them over plain v1, which has no identities, no batches and no chunks, and on disks that cannot exchange
    /// two entries in one step; those beyond a choice are extra.
    static let reduced: [Self] = curated.map(overPlain) + curated.map(withoutExchange)

    private static let plainChoice: Set<String> = [
        "a new note in new folders", "a moved and edited file", "a moved folder with an edit in it",
        "two files that exchange names", "edits that do not merge", "an edit of what the other moved",
        "an edit in a folder that the other moved", "edits of what one has moved",
        "a deletion of what the other edited", "two new notes of one name",
    ]

    private static func overPlain(_ row: Self) -> Self {
        var scenario = row
        scenario.name = "over plain v1, " + row.name
        scenario.usesExtension = false
        scenario.isExtra = !plainChoice.contains(row.name)
        switch row.name {
        case "one file moved to two places":
            // What has another name in another folder is not known to be the same file.
            scenario.makes["mine.md"] = "bee\n"
        case "edits of what one has moved":
            // What is moved and changed at once is another file.
            scenario.mirroredMakes = ["a.md": "1\ntwo\nthree\nfour\n", "p/a.md": "one\ntwo\nthree\n4\n"]
        default: break
        }
        return scenario
    }

    private static func withoutExchange(_ row: Self) -> Self {
        var scenario = row
        scenario.name = "without exchange, " + row.name
        scenario.canExchange = false
        scenario.isExtra = !["an edited note", "edits that merge"].contains(row.name)
        return scenario
    }
}
