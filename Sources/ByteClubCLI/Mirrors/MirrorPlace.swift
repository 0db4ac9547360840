import ByteClubCore
import Glibc

/// A mirror's directory and the directory of its state.
struct MirrorPlace: Hashable, Sendable {
    /// The mirror's absolute path.
    let directory: String
    /// Where its database is.
    let state: String
    /// The records of all mirrors.
    let registry: MirrorRegistry
    private let workingDirectory: String

    /// The named directory; else the mirror that contains the command's `path`, else the one that contains the working
    /// directory, else the one synced last.
    init(_ named: String?, around path: String? = nil, _ context: Context) throws {
        let registry = MirrorRegistry(context)
        let workingDirectory = try context.workingDirectory()
        let around = try path.flatMap { registry.mirror(around: try LocalFile.absolute($0, in: workingDirectory)) }
        if let named {
            if named.isEmpty { throw Failure(.usage, "the directory name is empty") }
            if named.contains("://") {
                throw Failure(.usage, "'\(named)' is an address, not a directory; see 'byteclub login --help'")
            }
            let absolute = try LocalFile.absolute(named, in: workingDirectory)
            // Invalid UTF-8 is decoded as this character, so that the path no longer exists.
            if absolute.unicodeScalars.contains("\u{FFFD}"), !LocalFile.exists(absolute) {
                throw Failure(
                    .noInput,
                    "'\(absolute)' cannot be a mirror: a name in this path is not UTF-8; rename that folder, or use another"
                )
            }
            directory = registry.holds(absolute) ? absolute : LocalFile.resolved(absolute)
        } else if let found = around ?? registry.mirror(around: workingDirectory) ?? registry.last {
            directory = found
        } else {
            throw Failure(.usage, "no mirror on this machine yet; 'byteclub sync DIR' creates one")
        }
        state = registry.state(of: directory)
        (self.registry, self.workingDirectory) = (registry, workingDirectory)
    }

    /// The engine's configuration for the mirror.
    var configuration: SyncConfiguration { SyncConfiguration(directory: directory, stateDirectory: state) }

    /// The engine's configuration for the mirror and the server.
    ///
    /// - Throws: ``Failure`` when the login names another folder than the mirror's, since its contents would be merged
    ///   into the other.
    func configuration(_ login: Login, _ context: Context) throws -> SyncConfiguration {
        var configuration = configuration
        configuration.remoteRoot = login.folder
        if let folder = boundFolder {
            if login.isFolderNamed, login.folder.key != folder.key {
                throw Failure(
                    .configuration,
                    "the mirror '\(directory)' syncs '\(folder)', not '\(login.folder)'; use another directory, or "
                        + "unlink this one with \(ShellWord.command("byteclub unlink", directory)) first")
            }
            configuration.remoteRoot = folder
        }
        configuration.serverIdentity = login.server.origin
        configuration.memberName = login.member
        configuration.usesExtension = context.environment["BYTECLUB_PLAIN"] != "1"
        return configuration
    }

    /// Whether a sync of the directory ever began.
    var isKnown: Bool { LocalFile.exists(state) }

    /// Fails unless the directory was synced before.
    func requireSynced() throws {
        if !isKnown {
            throw Failure(
                .noInput,
                "'\(directory)' was never synced; sync it first, or name a mirror that 'byteclub mirrors' lists"
            )
        }
    }

    /// A path relative to the mirror's root: resolved from the working directory if it is inside the mirror, else from
    /// the mirror's root.
    func relative(_ path: String) throws -> String {
        let inside = { (path: String) -> String? in
            if path == directory { return "" }
            return path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.count + 1)) : nil
        }
        if let found = inside(try LocalFile.absolute(path, in: workingDirectory)) { return found }
        if path.hasPrefix("/") || inside(workingDirectory) != nil {
            throw Failure(.noInput, "'\(path)' is not in the mirror '\(directory)'")
        }
        return String(try LocalFile.absolute("/" + path).dropFirst())
    }

    /// Checks that a typed word is a directory and not meant as a subcommand.
    ///
    /// - Throws: ``Failure`` for a word without a slash that is neither a mirror nor an existing directory.
    func checkWord(_ word: String?) throws {
        guard let word, !word.contains("/"), !isKnown, !LocalFile.exists(directory) else { return }
        let isCommand = RootCommand.has(word)
        let meant = isCommand ? "; 'byteclub \(word)' is a different command" : "; see 'byteclub sync --help'"
        throw Failure(.usage, "no directory '\(word)' here; './\(word)' creates one\(meant)")
    }

    /// Makes the directories of a new mirror; the directory of a known mirror is never recreated.
    ///
    /// - Throws: ``Failure`` for a file, the root, and a directory that is inside another mirror or contains one.
    func prepare(_ engine: any MirrorEngine.Type, isDryRun: Bool) throws {
        try checkNesting(engine)
        if LocalFile.exists(directory), !LocalFile.isDirectory(directory) {
            throw Failure(.cannotCreate, "'\(directory)' is not a directory")
        }
        if isDryRun, !isKnown { return }
        if !isKnown {
            if !LocalFile.exists(directory) { try LocalFile.makeDirectory(directory) }
            try LocalFile.makePrivateDirectory(state)
        }
        if !LocalFile.isDirectory(directory) {
            throw Failure(
                .noInput,
                "the mirror '\(directory)' is gone; restore it, or unlink it with "
                    + "\(ShellWord.command("byteclub unlink", directory)) and sync again")
        }
    }

    /// Nested mirrors would sync each other's contents as their own, one level deeper each time.
    private func checkNesting(_ engine: any MirrorEngine.Type) throws {
        if directory == "/" {
            throw Failure(.configuration, "'/' is the root directory; choose another directory for the club")
        }
        var above = LocalFile.parent(of: directory)
        while above != "/", above.hasPrefix("/") {
            if engine.marker(in: above) != nil {
                throw Failure(
                    .configuration,
                    "'\(directory)' is inside the mirror '\(above)'; choose a directory outside it")
            }
            above = LocalFile.parent(of: above)
        }
        let below = registry.mirrors.first { $0.hasPrefix(directory + "/") && engine.marker(in: $0) != nil }
        if let below {
            throw Failure(
                .configuration,
                "the mirror '\(below)' is inside '\(directory)'; choose another directory, or unlink that mirror with "
                    + "\(ShellWord.command("byteclub unlink", below))")
        }
    }

    private var folderFile: String { state + "/folder" }

    /// The mirror's folder on the server; nil before its first sync.
    var boundFolder: RemotePath? {
        MirrorRegistry.path(in: folderFile).flatMap { try? RemotePath($0) }
    }

    /// Binds the mirror to a folder on the server, which protects it from a sync with another one.
    func bind(to folder: RemotePath) throws {
        if boundFolder == nil { try LocalFile.replace(folderFile, with: Array((folder.string + "\n").utf8)) }
    }

    /// Makes this mirror the default of later commands.
    func remember(_ engine: any MirrorEngine.Type) throws { try registry.remember(directory, engine) }

    /// Turns the mirror into an ordinary directory with its files, and returns whether its trash is kept as well.
    func unlink(_ engine: any MirrorEngine.Type) throws -> Bool {
        let keepsTrash = try engine.unlink(configuration)
        try registry.forget(directory)
        return keepsTrash
    }
}
