import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubSync

/// Two members who edit at random, with requests and replies lost on the way.
@Suite struct SimulationTests {
    /// What the members of one simulation do and know.
    private struct World {
        let remote: MemoryRemote
        let devices: [Device]
        var random: SeededGenerator
        /// Texts that must not get lost, with the device that wrote each since its last sync.
        var tokens: [String: Int?] = [:]
        var stored: Set<String> = []
        var next = 0

        static let names = ["a.md", "B.md", "f/a.md", "f/b.md", "f/g/c.md", "h/d.md", "f", "h"]

        mutating func act(on index: Int) {
            let device = devices[index]
            let name = Self.names[Int.random(in: 0..<Self.names.count, using: &random)]
            // One member writes small letters only.
            let path = index == 0 ? name : name.lowercased()
            if device.isTaken(path) { return }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                if path.contains("/") || !device.files().keys.contains(path + "/") {
                    forget(device.files(), at: path, index)
                    next += 1
                    let token = "token \(next) by \(index)"
                    device.write(path, token)
                    if device.read(path) == token { tokens[token] = .some(index) }
                }
            case 6..<9:
                forget(device.files(), at: path, index)
                device.remove(path)
            default: device.makeFolder(path)
            }
        }

        /// What a member replaces or deletes before it was ever synced is that member's to lose.
        private mutating func forget(_ files: [String: String], at path: String, _ index: Int) {
            for (location, text) in files where location == path || location.hasPrefix(path + "/") {
                if let writer = tokens[text], writer == index { tokens[text] = nil }
            }
        }

        mutating func sync(_ index: Int) async {
            let isDone = (try? await devices[index].sync())?.isComplete == true
            stored.formUnion((try? await remote.files().values).map(Set.init) ?? [])
            if isDone {
                for (token, writer) in tokens where writer == index { tokens[token] = .some(nil) }
            }
        }
    }

    @Test(
        "two devices converge after any edits and lost messages, and no text is lost",
        arguments: [1, 2, 3, 4] as [UInt64])
    func converge(seed: UInt64) async throws {
        print("simulation seed \(seed)")
        let remote = MemoryRemote()
        let devices = try [1, 2].map { member in
            try Device(MemoryRemote(sharing: remote, author: Int64(member)), in: FastDisk.path, forces: true)
        }
        var world = World(remote: remote, devices: devices, random: SeededGenerator(seed: seed))
        for index in 0..<2 { await world.sync(index) }
        let losses = Mutex(SeededGenerator(seed: seed &+ 99))
        for device in devices {
            device.remote.fault = { operation throws(RemoteError) in
                let strikes = losses.withLock { Int.random(in: 0..<25, using: &$0) == 0 }
                if strikes { throw RemoteError(.unreachable, "the wire broke") }
            }
        }
        for round in 0..<60 {
            for index in 0..<2 {
                for _ in 0..<Int.random(in: 0..<4, using: &world.random) { world.act(on: index) }
                if round % 7 != 6 { await world.sync(index) }
            }
        }
        for device in devices { device.remote.fault = nil }
        for _ in 0..<3 { for index in 0..<2 { await world.sync(index) } }
        try await check(world)
    }

    private static func folded(_ files: [String: String]) -> [String: String] {
        Dictionary(files.map { (PathKey.fold($0.key), $0.value) }, uniquingKeysWith: { $0 + $1 })
    }

    private func check(_ world: World) async throws {
        let files = world.devices.map { Self.folded($0.files()) }
        #expect(files[0] == files[1])
        #expect(Self.folded(try await world.remote.files()) == files[0])
        for device in world.devices {
            let summary = try await device.sync()
            #expect(summary.isComplete)
            #expect(summary.uploaded + summary.downloaded + summary.deletedLocal + summary.deletedRemote == 0)
            #expect(device.isStagingEmpty)
        }
        let kept = Set(files[0].values).union(world.devices.flatMap(\.trash)).union(world.stored)
        let lost = world.tokens.keys.filter { !kept.contains($0) }.sorted()
        #expect(lost == [])
    }
}

extension Device {
    /// Whether something is there under the same name in other letter case, at the path or at a folder above it.
    fileprivate func isTaken(_ path: String) -> Bool {
        let locations = files().keys.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        return locations.contains { location in
            let part = path.prefix(location.count)
            return part != location && part.lowercased() == location.lowercased()
                && (path.count == location.count || path.dropFirst(location.count).first == "/")
        }
    }
}
