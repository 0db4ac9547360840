import ByteClubCore

@testable import ByteClubSync
@testable import SyncSimulation

extension Obstruction {
    /// What only takes its time.
    static let ofTime: [Self] = [
        Self(name: "a schedule", path: "big", line: "it is large and waits for the schedule") { mirror in
            mirror.configuration.schedule = try SyncSchedule(parsing: "pause")
            mirror.disk.write("big", String(repeating: "x", count: 100_000))
            await mirror.sync()
        },
        Self(
            name: "a schedule on the way down", path: "big", line: "it is large and waits for the schedule"
        ) {
            mirror in
            mirror.configuration.schedule = try SyncSchedule(parsing: "pause")
            try await mirror.write("big", String(repeating: "x", count: 100_000))
            await mirror.sync()
        },
        Self(name: "a change that no sync has seen", state: .pending, next: "it has changed on disk since") {
            $0.disk.write("a.md", "newer")
        },
        Self(name: "a save that no sync has seen", state: .pending, next: "it has changed on disk since") {
            $0.disk.save("a.md", "a")
        },
        Self(name: "a deletion that no sync has seen", state: .pending, next: "it is gone from the disk since") {
            $0.disk.delete("a.md")
        },
        Self(name: "a move that no sync has seen", path: "p/c.md", state: .pending, next: "it is gone from the disk") {
            $0.disk.move("p", to: "r")
        },
        Self(name: "a new file that no sync has seen", path: "new.md", state: .pending, next: "no sync has seen it yet")
        { $0.disk.write("new.md", "new") },
        Self(name: "a folder in a file's place", state: .pending, next: "it has changed on disk since") { mirror in
            mirror.disk.delete("a.md")
            mirror.disk.makeFolder("a.md")
        },
        Self(name: "a mirror that is gone since", line: "the mirror's folder is gone or was replaced") {
            mirror in
            mirror.network.isDown = true
            mirror.disk.write("a.md", "new")
            await mirror.sync()
            try mirror.change { try $0.replace([ObstacleRecord]()) }
            mirror.disk.mount = .empty
        },
    ]
}
