import ByteClubCore
import Glibc

/// Which directory is the mirror, and where its state is.
struct MirrorPlace: Hashable, Sendable {
    /// The mirror's absolute path.
    let directory: String
    /// Where its database is.
    let state: String
    private let rememberedIn: String

    /// The directory that was named, else the one that was synced last.
    init(_ named: String?, _ context: Context) throws {
        let mirrors = context.directories.mirrors
        rememberedIn = mirrors + "/last"
        if let named {
            if named.isEmpty { throw Failure(.usage, "the directory's name is empty") }
            directory = try LocalFile.absolute(named)
        } else if let bytes = try? LocalFile.read(rememberedIn, limit: 1 << 16), bytes.first == UInt8(ascii: "/") {
            var path = String(decoding: bytes, as: UTF8.self)
            while path.hasSuffix("\n") { path.removeLast() }
            directory = path
        } else {
            throw Failure(.usage, "name the directory that is to be the mirror: byteclub sync DIR")
        }
        state = mirrors + "/" + ContentHasher.hash(Array(directory.utf8)).description.prefix(16)
    }

    /// What the engine is told of the mirror.
    var configuration: SyncConfiguration { SyncConfiguration(directory: directory, stateDirectory: state) }

    /// What the engine is told of the mirror and the server.
    func configuration(_ login: Login, _ context: Context) -> SyncConfiguration {
        var configuration = configuration
        configuration.remoteRoot = login.folder
        configuration.usesExtension = context.environment["BYTECLUB_PLAIN"] != "1"
        return configuration
    }

    /// Makes sure that the directory was synced before.
    func requireSynced() throws {
        if !LocalFile.exists(state) {
            throw Failure(.noInput, "'\(directory)' was never synced; name a mirror, or sync it first")
        }
    }

    /// A path as the mirror has it, relative to its root: an absolute one in the mirror, one relative to the working
    /// directory when that is in the mirror, else one relative to the mirror's root.
    func relative(_ path: String) throws -> String {
        let inside = { (path: String) -> String? in
            if path == directory { return "" }
            return path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.count + 1)) : nil
        }
        if path.hasPrefix("/") {
            guard let found = inside(try LocalFile.absolute(path)) else {
                throw Failure(.noInput, "'\(path)' is not in the mirror '\(directory)'")
            }
            return found
        }
        if inside(try LocalFile.absolute(".")) != nil {
            guard let found = inside(try LocalFile.absolute(path)) else {
                throw Failure(.noInput, "'\(path)' is not in the mirror '\(directory)'")
            }
            return found
        }
        return String(try LocalFile.absolute("/" + path).dropFirst())
    }

    /// Makes the directories of a new mirror; the directory of one that was synced before is never made anew.
    func prepare(isRehearsal: Bool) throws {
        if !isRehearsal, !LocalFile.exists(state) {
            if !LocalFile.exists(directory) { try LocalFile.makeDirectory(directory) }
            try LocalFile.makePrivateDirectory(state)
        }
        if !LocalFile.isDirectory(directory) {
            if !LocalFile.exists(state) { throw FileError(.read, directory, ENOENT) }
            throw Failure(
                .noInput,
                "the mirror '\(directory)' is gone; bring it back, or remove '\(state)' to start a new one there")
        }
    }

    /// Remembers the mirror for commands that name none.
    func remember() throws {
        try LocalFile.replace(rememberedIn, with: Array((directory + "\n").utf8))
    }
}
