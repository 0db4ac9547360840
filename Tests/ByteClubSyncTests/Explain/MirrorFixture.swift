import ByteClubCore
import ByteClubFiles
import Glibc
import TestSupport

@testable import ByteClubSync
@testable import SyncSimulation

/// A mirror's directory and its database, filled by hand.
struct MirrorFixture {
    let directory: TemporaryDirectory
    let configuration: SyncConfiguration
    let store: SQLiteTreeStore

    init() throws {
        directory = try TemporaryDirectory()
        let mirror = directory.path + "/mirror"
        let state = directory.path + "/state"
        try MirrorLock.makeDirectories(mirror, mode: 0o700)
        try MirrorLock.makeDirectories(state, mode: 0o700)
        configuration = SyncConfiguration(directory: mirror, stateDirectory: state)
        store = try SQLiteTreeStore(path: configuration.databasePath)
    }

    static func hash(_ text: String) -> ContentHash { ContentHasher.hash(Array(text.utf8)) }

    /// An item with a name on those sides that have a text; nil stands for a side that has it not.
    @discardableResult
    func add(
        _ name: String, in folder: ItemID = .root, disk: String? = nil, server: String? = nil, synced: String? = nil,
        isFolder: Bool = false, _ change: (inout Item) -> Void = { _ in }
    ) throws -> Item {
        let location = Location(folder, EntryName(name))
        var item = Item(try store.newItem())
        let hash = { (text: String) in isFolder ? nil : Self.hash(text) }
        item.local = disk.map {
            LocalState(location: location, isFolder: isFolder, hash: hash($0), size: Int64($0.utf8.count))
        }
        item.remote = server.map {
            RemoteState(
                node: EntryID(item.id.number), location: location, isFolder: isFolder, hash: hash($0),
                size: Int64($0.utf8.count), revision: .number(1))
        }
        item.base = synced.map {
            SyncedState(
                location: location, isFolder: isFolder, hash: hash($0), size: Int64($0.utf8.count), revision: .number(1)
            )
        }
        change(&item)
        try store.save(item)
        return item
    }

    /// A folder that both sides have.
    func addFolder(_ name: String, in folder: ItemID = .root) throws -> Item {
        try add(name, in: folder, disk: "", server: "", synced: "", isFolder: true)
    }

    func write(_ text: String, to name: String) throws {
        try FileDescriptor.open(configuration.directory + "/" + name, O_WRONLY | O_CREAT | O_TRUNC)
            .write(Array(text.utf8))
    }

    /// A file's text; nil when there is none.
    func text(_ name: String) throws -> String? {
        guard let file = try? FileDescriptor.open(configuration.directory + "/" + name, O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try file.read(into: &bytes, at: 0)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
