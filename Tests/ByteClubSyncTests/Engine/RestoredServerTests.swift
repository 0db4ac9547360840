import ByteClubCore
import MemoryRemote
import Testing

@testable import ByteClubSync

/// A server that comes back from an older backup, and members that all have what it has lost.
@Suite struct RestoredServerTests {
    @Test("what several members have alike becomes one conflict copy, whoever brings it first")
    func oneCopyForEach() async throws {
        let server = MemoryRemote()
        let names = (0..<4).map { "note \($0).md" }
        let devices = try (1...3).map { number in
            try Device(
                MemoryRemote(sharing: server, author: Int64(number)), in: FastDisk.path, member: "member \(number)")
        }
        for name in names { devices[0].write(name, "newer \(name)") }
        for device in devices { try await device.sync() }
        let backup = MemoryRemote()
        for name in names { try await backup.write(name, "older \(name)") }
        let sync = { (number: Int, isAway: Bool) in
            let remote = MemoryRemote(sharing: backup, author: Int64(number + 1))
            if isAway {
                remote.fault = { call throws(RemoteError) in
                    if call.kind == .apply { throw RemoteError(.unreachable, "away") }
                }
            }
            let engine = try SyncEngine(configuration: devices[number].configuration, remote: remote)
            return try await engine.runOnce { _ in }
        }
        // Each finds the conflict before it hears of the others' copies.
        for number in devices.indices {
            let store = try SQLiteTreeStore(path: devices[number].configuration.databasePath)
            try store.setMeta(.cursor, nil)
            try store.close()
            _ = try? await sync(number, true)
            #expect(Set(devices[number].files().values).isSuperset(of: names.map { "newer \($0)" }))
        }
        for _ in 0..<2 { for number in devices.indices { #expect(try await sync(number, false).isComplete) } }
        let files = try await backup.files()
        #expect(files.count == 2 * names.count, "\(files.keys.sorted())")
        for name in names {
            #expect(files[name] == "older \(name)" && files.values.count { $0 == "newer \(name)" } == 1)
        }
        for device in devices { #expect(device.files() == files) }
    }
}
