import ByteClubCore
import Glibc
import MemoryRemote
import TestSupport
import Testing

@testable import ByteClubSync
@testable import SyncSimulation

/// Something that a mirror can meet, and what people are told of it who ask why.
struct Obstruction: Sendable, CustomTestStringConvertible {
    let name: String
    var path = "a.md"
    var state = SyncExplanation.State.blocked
    /// A part of the first line that names a blocker.
    var line: String?
    /// A part of the first line that tells what is done next.
    var next: String?
    /// A part of the first note.
    var note: String?
    /// Whether the time of the next attempt is told.
    var hasNextAttempt = false
    let strike: @Sendable (FaultyMirror) async throws -> Void

    var testDescription: String { name }

    private static func refused(_ name: String, _ error: RemoteError, _ line: String, hasNextAttempt: Bool = false)
        -> Self
    {
        Self(name: name, line: line, hasNextAttempt: hasNextAttempt) { mirror in
            mirror.disk.write("a.md", "new")
            mirror.network.writeRefusal = error
            await mirror.sync()
        }
    }

    private static func unanswered(_ name: String, _ error: RemoteError, _ line: String) -> Self {
        Self(name: name, line: line) { mirror in
            mirror.disk.write("a.md", "new")
            await mirror.sync()
            mirror.disk.write("a.md", "newer")
            mirror.network.refusal = error
            await mirror.sync()
        }
    }

    private static func failing(_ name: String, _ verb: SimulatedDisk.Call.Verb, _ code: Int32, _ line: String) -> Self
    {
        Self(name: name, line: line, hasNextAttempt: true) { mirror in
            mirror.disk.write("a.md", "new")
            mirror.disk.failure = { $0.verb == verb && $0.path == "a.md" ? code : nil }
            await mirror.sync()
        }
    }

    /// On the disk.
    static let ofDisk: [Self] = [
        Self(name: "a file that may not be read", line: "Permission denied", hasNextAttempt: true) { mirror in
            mirror.disk.write("a.md", "new")
            mirror.disk.lock("a.md")
            await mirror.sync()
        },
        Self(
            name: "a folder above that may not be read", path: "p/c.md",
            line: "'p': the folder cannot be read: Permission denied"
        ) { mirror in
            mirror.disk.write("p/c.md", "new")
            mirror.disk.lock("p")
            await mirror.sync()
        },
        failing("a file that the disk cannot read", .open, EIO, "Input/output error"),
        Self(name: "a file that is being written", line: "it is being written", hasNextAttempt: true) { mirror in
            mirror.disk.write("a.md", "half")
            _ = mirror.disk.openForWriting("a.md")
            await mirror.sync()
        },
        Self(
            name: "a disk that is nearly full", path: "new.md", line: "not enough disk space for ", hasNextAttempt: true
        ) { mirror in
            try await mirror.write("new.md", "new")
            mirror.disk.space = 1_000
            await mirror.sync()
        },
        Self(name: "a name that is not UTF-8", path: "raw", line: "UTF-8") { mirror in
            mirror.disk.makeUndecodable("raw")
            await mirror.sync()
        },
        Self(name: "a name that the server refuses", path: "back\\slash.md", line: "name") { mirror in
            mirror.disk.write("back\\slash.md", "new")
            await mirror.sync()
        },
        Self(name: "a link in a folder's place", path: "s/n.md", line: "symbolic link") { mirror in
            mirror.disk.makeOther("s")
            try await mirror.write("s/n.md", "new")
            await mirror.sync()
        },
        Self(name: "a link in a file's place", path: "b.md", line: "symbolic link") { mirror in
            mirror.disk.delete("b.md")
            mirror.disk.makeOther("b.md")
            await mirror.sync()
        },
        Self(name: "a root that is gone", line: "the mirror '/mirror' is gone") { mirror in
            mirror.network.isDown = true
            mirror.disk.write("a.md", "new")
            await mirror.sync()
            mirror.disk.mount = .missing
            await mirror.sync()
        },
        Self(name: "a root that is not mounted", line: "is its disk mounted?") { mirror in
            mirror.network.isDown = true
            mirror.disk.write("a.md", "new")
            await mirror.sync()
            mirror.disk.mount = .empty
            await mirror.sync()
        },
    ]

    /// On the way to the server, and there.
    static let ofServer: [Self] = [
        refused(
            "a quota that is used up", RemoteError(.overQuota, "the folder is full"), "the folder is full",
            hasNextAttempt: true),
        refused(
            "a file that is too large", RemoteError(.tooLarge, "it is too large"), "it is too large",
            hasNextAttempt: true),
        refused(
            "a member who may only read", RemoteError(.forbidden, "you may only read here"), "you may only read here",
            hasNextAttempt: true),
        refused(
            "a race that is always lost", RemoteError(.conflict, "another was quicker"), "another was quicker",
            hasNextAttempt: true),
        refused(
            "a server that is asked too often", RemoteError(.rateLimited, "too many calls", retryAfter: 9),
            "too many calls"),
        refused("a server that fails at writes", RemoteError(.serverFault, "the server failed"), "the server failed"),
        unanswered(
            "a server that is out of reach", RemoteError(.unreachable, "cannot reach the server"),
            "cannot reach the server"),
        unanswered("a token that is no good any more", RemoteError(.unauthorized, "sign in again"), "sign in again"),
        Self(
            name: "a content that arrives damaged", path: "new.md", line: "content that differs from its metadata",
            hasNextAttempt: true
        ) { mirror in
            mirror.configuration.usesExtension = false
            try await mirror.write("new.md", "new")
            mirror.network.distort = { $0.map { $0 ^ 1 } }
            await mirror.sync()
        },
        Self(
            name: "a large content that arrives damaged", path: "big", line: "content that differs from its metadata",
            hasNextAttempt: true
        ) { mirror in
            try await mirror.write("big", String(repeating: "x", count: 100_000))
            mirror.network.distort = { $0.map { $0 ^ 1 } }
            for _ in 0..<3 { await mirror.sync() }
        },
    ]

    /// By somebody's will.
    static let ofPeople: [Self] = [
        Self(name: "a pause", line: "syncing is paused until it is resumed") { mirror in
            mirror.network.isDown = true
            mirror.disk.write("a.md", "new")
            await mirror.sync()
            try mirror.change { try $0.replace([ObstacleRecord]()) }
            try mirror.keep(.pausedUntil, "forever")
        },
        Self(name: "a pause with an end", line: "syncing is paused for another 1 hour") { mirror in
            mirror.network.isDown = true
            mirror.disk.write("a.md", "new")
            await mirror.sync()
            try mirror.change { try $0.replace([ObstacleRecord]()) }
            try mirror.keep(.pausedUntil, "\(mirror.now + 3_600)")
        },
        Self(
            name: "an ignore rule", path: "x.tmp", state: .excluded, line: "line 2 of .byteclubignore ignores it: *.tmp"
        ) { mirror in
            mirror.disk.write(".byteclubignore", "# mine\n*.tmp\n")
            mirror.disk.write("x.tmp", "new")
            await mirror.sync()
        },
        Self(
            name: "an ignore rule for the folder above", path: "p/c.md", state: .excluded,
            line: "line 1 of .byteclubignore ignores it: p/"
        ) { mirror in
            mirror.disk.write(".byteclubignore", "p/\n")
            await mirror.sync()
        },
        Self(
            name: "a name that is never synced", path: ".DS_Store", state: .excluded,
            line: "names like this are never synced"
        ) { mirror in
            mirror.disk.write(".DS_Store", "new")
            await mirror.sync()
        },
        Self(
            name: "a folder that is not selected", path: "p/c.md", state: .excluded,
            line: "the folder 'p' is not selected"
        ) { mirror in
            try mirror.change { try Selection([PathKey(folded: "/p")]).save(in: $0) }
            await mirror.sync()
        },
        Self(
            name: "the delete guard against the server", path: "q/n9.md",
            line: "its deletion here is held"
        ) { mirror in
            for number in 1...40 { try await mirror.write("q/n\(number).md", "\(number)") }
            await mirror.sync()
            _ = try await mirror.other.delete(RemotePath("/q"), ifUnchangedSince: nil)
            await mirror.sync()
        },
        Self(name: "the delete guard", path: "q/n9.md", line: "its deletion on the server is held") {
            mirror in
            mirror.disk.makeFolder("q")
            for number in 1...40 { mirror.disk.write("q/n\(number).md", "\(number)") }
            await mirror.sync()
            mirror.disk.delete("q")
            await mirror.sync()
        },
    ]

    /// What one entry waits for that is another's.
    static let ofOthers: [Self] = [
        Self(name: "a folder that cannot be made", path: "s/t/n.md", line: "'s': a symbolic link is not synced") {
            mirror in
            mirror.disk.makeOther("s")
            try await mirror.write("s/t/n.md", "new")
            await mirror.sync()
        },
        Self(name: "a name that an entry has which is left alone", line: "another entry still has the name: 'b.md'") {
            mirror in
            mirror.disk.delete("b.md")
            mirror.disk.makeOther("b.md")
            _ = try await mirror.other.delete(RemotePath("/b.md"), ifUnchangedSince: nil)
            _ = try await mirror.other.move(RemotePath("/a.md"), to: RemotePath("/b.md"))
            await mirror.sync()
        },
        Self(
            name: "a folder in which something cannot be read", path: "p",
            line: "it waits for a skipped entry: 'p/q'"
        ) { mirror in
            mirror.disk.makeFolder("p/q")
            mirror.disk.write("p/q/d.md", "d")
            await mirror.sync()
            mirror.disk.lock("p/q")
            _ = try await mirror.other.delete(RemotePath("/p"), ifUnchangedSince: nil)
            await mirror.sync()
        },
        Self(name: "a folder in which something is being written", path: "p", line: "something is still in it") {
            mirror in
            mirror.disk.write("p/c.md", "half")
            _ = mirror.disk.openForWriting("p/c.md")
            _ = try await mirror.other.delete(RemotePath("/p"), ifUnchangedSince: nil)
            await mirror.sync()
        },
    ]
}

@Suite struct BlockerTests {
    @Test(
        "what is in the way is named",
        arguments: [
            Obstruction.ofDisk, Obstruction.ofServer, Obstruction.ofPeople, Obstruction.ofOthers, Obstruction.ofNames,
            Obstruction.ofTime,
        ].flatMap(\.self))
    func named(_ obstruction: Obstruction) async throws {
        let mirror = try await FaultyMirror()
        try await obstruction.strike(mirror)
        let answer = try #require(try mirror.why(obstruction.path))
        #expect(answer.state == obstruction.state, "\(answer)")
        if let line = obstruction.line {
            #expect(answer.blockers.first?.contains(line) == true, "\(answer.blockers)")
        }
        if let next = obstruction.next { #expect(answer.next.first?.contains(next) == true, "\(answer)") }
        if let note = obstruction.note { #expect(answer.notes.first?.contains(note) == true, "\(answer)") }
        #expect((answer.nextAttempt != nil) == obstruction.hasNextAttempt, "\(answer)")
    }
}
