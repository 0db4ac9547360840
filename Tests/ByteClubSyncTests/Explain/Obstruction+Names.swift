import ByteClubCore
import Glibc
import MemoryRemote

@testable import ByteClubSync
@testable import SyncSimulation

extension Obstruction {
    /// Two entries and one name.
    static let ofNames: [Self] = [
        clash("a name that differs in letter case only", "N.md", "n.md"),
        clash("a name that differs in composition only", "caf\u{e9}.md", "cafe\u{301}.md"),
        Self(
            name: "a name that another entry has on the server", path: "n.md", state: .blocked,
            line: "cannot rename 'n.md': No space left on device", note: "another entry has the name",
            hasNextAttempt: true
        ) { mirror in
            mirror.disk.write("n.md", "mine")
            try await mirror.write("n.md", "theirs")
            mirror.disk.failure = { $0.verb == .rename && $0.path == "n.md" ? ENOSPC : nil }
            await mirror.sync()
        },
        Self(
            name: "a name that the disk takes for another's", path: "strasse.md",
            line: "this disk treats its name as another entry's", hasNextAttempt: true
        ) { mirror in
            mirror.disk.write("stra\u{df}e.md", "mine")
            await mirror.sync()
            try await mirror.write("strasse.md", "theirs")
            mirror.disk.takesForOne = ["strasse.md", "stra\u{df}e.md"]
            await mirror.sync()
        },
        Self(
            name: "a folder whose name the disk takes for another's", path: "strasse",
            line: "this disk treats its name as another entry's", hasNextAttempt: true
        ) { mirror in
            mirror.disk.makeFolder("stra\u{df}e")
            await mirror.sync()
            try await mirror.write("strasse/n.md", "theirs")
            mirror.disk.takesForOne = ["strasse", "stra\u{df}e"]
            await mirror.sync()
        },
        Self(
            name: "a new name that the disk takes for another's",
            line: "this disk treats its name as another entry's", hasNextAttempt: true
        ) { mirror in
            mirror.disk.write("stra\u{df}e.md", "mine")
            await mirror.sync()
            _ = try await mirror.other.move(RemotePath("/a.md"), to: RemotePath("/strasse.md"))
            mirror.disk.takesForOne = ["strasse.md", "stra\u{df}e.md"]
            await mirror.sync()
        },
        Self(
            name: "names that are being exchanged", path: "a (moving 2).md", line: "Input/output error",
            next: "move it here to", note: "it has a temporary name", hasNextAttempt: true
        ) { mirror in
            for (path, target) in [("/a.md", "/x.md"), ("/b.md", "/a.md"), ("/x.md", "/b.md")] {
                _ = try await mirror.other.move(RemotePath(path), to: RemotePath(target))
            }
            mirror.disk.failure = { $0.verb == .rename && $0.path.contains("(moving") ? EIO : nil }
            await mirror.sync()
        },
        Self(
            name: "a conflict copy", path: copy, state: .inSync,
            note: "it is a conflict copy of 'a.md'; see 'byteclub conflicts show a.md'"
        ) { try await $0.conflict() },
        Self(
            name: "a file that has a conflict copy", state: .inSync,
            note: "another version of it is kept as '\(copy)'; see 'byteclub conflicts show a.md'"
        ) { try await $0.conflict() },
        Self(
            name: "a conflict copy of another machine", path: "p/x (conflict 1a2b3c4d).md", state: .inSync,
            note: "by its name it is a conflict copy of 'p/x.md'"
        ) { mirror in
            try await mirror.write("p/x (conflict 1a2b3c4d).md", "theirs")
            await mirror.sync()
        },
    ]

    /// What is written in the minute in which the simulated disk's time begins.
    private static let copy: String = {
        let time = SimulatedDisk().time / 1_000_000_000
        return ConflictName.name(
            for: "a.md", ConflictStamp(author: nil, time: time, offset: WallClock.offset(time)))
    }()

    private static func clash(_ name: String, _ one: String, _ other: String) -> Self {
        Self(
            name: name, path: other, line: "cannot rename '\(other)': Input/output error", next: "move it here to",
            note:
                "another entry has the name: the server treats '\(one)' as the same name",
            hasNextAttempt: true
        ) { mirror in
            mirror.disk.write(one, "one")
            mirror.disk.write(other, "other")
            mirror.disk.failure = { $0.verb == .rename && $0.path == other ? EIO : nil }
            await mirror.sync()
        }
    }
}

extension FaultyMirror {
    fileprivate func conflict() async throws {
        disk.write("a.md", "mine")
        try await write("a.md", "theirs")
        await sync()
    }
}
