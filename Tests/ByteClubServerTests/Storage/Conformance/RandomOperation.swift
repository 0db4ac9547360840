import ByteClubCore
import TestSupport

/// A random change of one path in a shared folder, which often fails.
enum RandomOperation: Sendable {
    case put(RemotePath, [UInt8]), folder(RemotePath), delete(RemotePath)
    case move(RemotePath, RemotePath), copy(RemotePath, RemotePath), restore(RemotePath, Int64)

    private static let names = ["a", "b", "a.b", "a b", "A", "É", "e\u{301}", "photos", "z\u{1F600}"]

    /// Chooses one for a folder whose last change is `last`; the fewer names, the more often paths meet.
    init(last: Int64, names: [String] = Self.names, using generator: inout SeededGenerator) throws {
        let path = try Self.path(names, using: &generator)
        self =
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...4: .put(path, [UInt8](repeating: UInt8.random(in: 0...9, using: &generator), count: 3))
            case 5: .folder(path)
            case 6, 7: .delete(path)
            case 8: .move(path, try Self.path(names, using: &generator))
            case 9: .copy(path, try Self.path(names, using: &generator))
            default: .restore(path, Int64.random(in: 0...max(1, last), using: &generator))
            }
    }

    /// A path of one to three names.
    static func path(_ names: [String] = Self.names, using generator: inout SeededGenerator) throws -> RemotePath {
        let depth = Int.random(in: 1...3, using: &generator)
        return try RemotePath(
            (0..<depth).map { _ in names.randomElement(using: &generator) ?? "a" }.joined(separator: "/"))
    }

    /// Does it, and gives the version that it makes.
    func run(on folder: inout SharedFolder) throws -> FolderEntry {
        switch self {
        case .put(let path, let bytes):
            // Some of them say when they were made, and whether they may be executed.
            try folder.put(
                path, bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes),
                modified: bytes.first.flatMap { $0 < 5 ? FileTime(nanoseconds: Int64($0) - 2) : nil },
                executable: bytes.first.flatMap { $0 % 3 == 0 ? nil : $0 % 3 == 1 },
                condition: .overwrite, policy: .rename)
        case .folder(let path): try folder.createFolder(path)
        case .delete(let path): try folder.delete(path, seen: nil)
        case .move(let path, let target): try folder.move(path, to: target)
        case .copy(let path, let target): try folder.copy(path, to: target)
        case .restore(let path, let revision): try folder.restore(path, to: JournalRevision(number: revision))
        }
    }
}
