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
        } else if let path = Self.path(in: rememberedIn) {
            directory = path
        } else {
            throw Failure(.usage, "name the directory that is to be the mirror: byteclub sync DIR")
        }
        state = mirrors + "/" + ContentHasher.hash(Array(directory.utf8)).description.prefix(16)
    }

    /// The engine's configuration for the mirror.
    var configuration: SyncConfiguration { SyncConfiguration(directory: directory, stateDirectory: state) }

    /// The engine's configuration for the mirror and the server.
    ///
    /// - Throws: ``Failure`` when a folder is named that is not the mirror's: what is in it would all go into the
    ///   other.
    func configuration(_ login: Login, _ context: Context) throws -> SyncConfiguration {
        var configuration = configuration
        configuration.remoteRoot = login.folder
        if let folder = boundFolder {
            if login.isFolderNamed, login.folder.key != folder.key {
                throw Failure(
                    .configuration,
                    "the mirror '\(directory)' holds '\(folder)', not '\(login.folder)'; use another directory for that, or "
                        + "remove '\(state)' to bind the mirror anew")
            }
            configuration.remoteRoot = folder
        }
        configuration.serverIdentity = login.server.origin
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
    func prepare(isDryRun: Bool) throws {
        if !isDryRun, !LocalFile.exists(state) {
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

    private var folderFile: String { state + "/folder" }

    /// The folder of the server that the mirror holds; nil when it was never synced.
    private var boundFolder: RemotePath? {
        Self.path(in: folderFile).flatMap { try? RemotePath($0) }
    }

    /// Binds the mirror to a folder of the server, so that a sync that names none, or another one, does no harm.
    func bind(to folder: RemotePath) throws {
        if boundFolder == nil { try LocalFile.replace(folderFile, with: Array((folder.string + "\n").utf8)) }
    }

    /// Remembers the mirror for commands that name none.
    func remember() throws {
        if Self.path(in: rememberedIn) == directory { return }
        try LocalFile.replace(rememberedIn, with: Array((directory + "\n").utf8))
    }

    /// The absolute path that is all there is in a file.
    private static func path(in file: String) -> String? {
        guard let bytes = try? LocalFile.read(file, limit: 1 << 16), bytes.first == UInt8(ascii: "/") else {
            return nil
        }
        var path = String(decoding: bytes, as: UTF8.self)
        while path.hasSuffix("\n") { path.removeLast() }
        return path
    }
}
