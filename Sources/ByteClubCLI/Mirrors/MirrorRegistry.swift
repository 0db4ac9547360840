import ByteClubCore
import Glibc

/// The mirrors of this user, each with a state directory named by a hash of the mirror's path.
struct MirrorRegistry: Hashable, Sendable {
    /// The parent of the state directories.
    let directory: String

    init(_ context: Context) { directory = context.directories.mirrors }

    /// The state directory for a mirror at an absolute path, existing or not.
    func state(of mirror: String) -> String {
        directory + "/" + ContentHasher.hash(Array(mirror.utf8)).description.prefix(16)
    }

    /// Whether there is a mirror at an absolute path.
    func holds(_ mirror: String) -> Bool { LocalFile.isDirectory(state(of: mirror)) }

    /// The mirror at an absolute path or above it; nil when there is none.
    func mirror(around path: String) -> String? {
        var path = path
        while path != "/", path.hasPrefix("/") {
            if holds(path) { return path }
            path = LocalFile.parent(of: path)
        }
        return nil
    }

    /// The mirror that was synced last.
    var last: String? { Self.path(in: lastFile) }

    /// The mirrors' paths, sorted; without mirrors of older versions, which did not record them.
    var mirrors: [String] {
        var found = Set(LocalFile.names(in: directory).compactMap { Self.path(in: "\(directory)/\($0)/directory") })
        if let last { found.insert(last) }
        return found.filter(holds).sorted()
    }

    /// Records a mirror's path, and that it was synced last.
    func remember(_ mirror: String, _ engine: any MirrorEngine.Type) throws {
        try write(mirror, to: state(of: mirror) + "/directory")
        if let handle = engine.handle(of: mirror) { try write(handle, to: state(of: mirror) + "/handle") }
        try write(mirror, to: lastFile)
    }

    /// Removes the record that a mirror was synced last.
    func forget(_ mirror: String) throws {
        if last == mirror { try LocalFile.remove(lastFile) }
    }

    /// Moves the state of a moved mirror to its new path.
    ///
    /// A copy is not a moved mirror, even when the original is gone: it may be older, and entries that it lacks would
    /// be deleted.
    ///
    /// - Returns: The old path; nil when the path already has a mirror, or none was moved there.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of the mirror runs.
    func follow(to mirror: String, _ engine: any MirrorEngine.Type) throws -> String? {
        guard !holds(mirror), let marker = engine.marker(in: mirror), let handle = engine.handle(of: mirror) else {
            return nil
        }
        for old in mirrors where Self.text(in: state(of: old) + "/handle") == handle {
            let configuration = SyncConfiguration(directory: old, stateDirectory: state(of: old))
            guard try engine.identity(of: configuration) == marker else { continue }
            if try engine.status(of: configuration).isRunning {
                // For example through a bind mount: a second state would take over the mirror.
                throw SyncError(
                    .alreadyRunning, "'\(mirror)' is the mirror '\(old)' by another path, and its sync is running"
                )
            }
            try LocalFile.settle(state(of: old), at: state(of: mirror), replacing: false)
            try write(mirror, to: state(of: mirror) + "/directory")
            return old
        }
        return nil
    }

    /// The absolute path in a file; nil for other contents.
    static func path(in file: String) -> String? { text(in: file).flatMap { $0.hasPrefix("/") ? $0 : nil } }

    private static func text(in file: String) -> String? {
        guard let bytes = try? LocalFile.read(file, limit: 1 << 16) else { return nil }
        var text = String(decoding: bytes, as: UTF8.self)
        while text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    private var lastFile: String { directory + "/last" }

    private func write(_ text: String, to file: String) throws {
        if Self.text(in: file) != text { try LocalFile.replace(file, with: Array((text + "\n").utf8)) }
    }
}
