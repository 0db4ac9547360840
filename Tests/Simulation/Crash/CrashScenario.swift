import ByteClubCore

@testable import ByteClubSync

/// Two members, each with a machine: what they do between two syncs, and what both must have in the end.
///
/// The second member's changes reach the server first; the first member's engine is the one that is disturbed.
struct CrashScenario: Sendable {
    var name: String
    /// What both have, and the server, before they begin: files with their text, folders with a slash.
    var start = Self.common
    /// What the first member does.
    var mine: [CrashAct] = []
    /// What the second member does.
    var theirs: [CrashAct] = []
    /// How the end differs from the start on both machines and the server; nil for what is gone.
    var makes: [String: String?] = [:]
    /// The same when the first member's changes reach the server first, where that makes a difference.
    var mirroredMakes: [String: String?]?
    /// Other ends after a call that failed: the earlier content may not have been read in time.
    var otherMakes: [[String: String?]] = []
    /// The folder that is left out on the first member's machine.
    var leftOut: String?
    /// What is on the first member's machine alone in the end.
    var mineAlone: [String: String] = [:]
    /// Whether the disks take names for one that differ in letter case only.
    var foldsCase = false
    /// Whether the machines use the server's extension; without it, Core API v1 has to do.
    var usesExtension = true
    /// Whether the disks exchange two entries in one step.
    var canExchange = true
    /// Every so-manieth call is disturbed, where there are too many for all of them; four times as many when more than
    /// the usual is asked for.
    var stride = 1
    /// Whether it is only played when more than the usual is asked for.
    var isExtra = false
    /// Whether there is more than the second member's engine can be disturbed in, too.
    var hasMirrored = true

    /// What most scenarios start with.
    static let common = [
        "a.md": "one\ntwo\nthree\nfour\n", "b.md": "bee\n", "p/": "", "p/c.md": "cee\n", "p/q/": "",
        "p/q/d.md": "dee\n", "r/": "", "r/e.md": "eee\n",
    ]

    /// What both have in the end.
    var end: [String: String] { end(makes) }

    /// What both may have in the end after a call that failed.
    var otherEnds: [[String: String]] { otherMakes.map(end) }

    private func end(_ makes: [String: String?]) -> [String: String] {
        var tree = start
        for (path, text) in makes { tree[path] = text }
        return tree
    }

    /// The same with the members' parts exchanged.
    var mirrored: Self {
        var other = self
        other.name += ", the other way round"
        (other.mine, other.theirs) = (theirs, mine)
        other.makes = mirroredMakes ?? makes
        return other
    }

    /// Every scenario, and each the other way round.
    static let all: [Self] = (curated + reduced + large).flatMap { $0.hasMirrored ? [$0, $0.mirrored] : [$0] }

    /// The name that the loser of a conflict gets.
    static func copy(_ name: String, _: String) -> String {
        let (parent, last) = LocalPath.split(name)
        return LocalPath.join(parent, folderCopy(last))
    }

    /// The name that a folder gets which loses a conflict.
    static func folderCopy(_ name: String) -> String { ConflictName.name(for: name, ConflictNaming().stamp(nil)) }

    /// A path with the times left out that are told in the names of conflict copies.
    static func timeless(_ path: String) -> String {
        path.replacing(#/\(conflict \d{4}-\d{2}-\d{2} \d{4}/#, with: "(conflict 1970-01-01 0000")
    }
}
