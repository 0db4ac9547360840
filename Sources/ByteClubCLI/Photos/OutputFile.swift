import Glibc

/// A file that a command creates completely or not at all.
struct OutputFile: Sendable {
    /// The target.
    let path: String
    /// Whether to replace an existing file.
    let isForced: Bool

    /// Checks the target before any request.
    init(_ path: String, isForced: Bool) throws {
        self.path = path
        self.isForced = isForced
        if path.isEmpty { throw Failure(.usage, "the output file's name is empty") }
        if LocalFile.isDirectory(path) { throw Failure(.cannotCreate, "'\(path)' is a directory, not a file") }
        if !isForced, LocalFile.exists(path) { throw LocalFile.alreadyThere(path) }
        let directory = LocalFile.parent(of: path)
        guard LocalFile.isDirectory(directory) else {
            let isThere = LocalFile.exists(directory)
            throw Failure(
                .cannotCreate,
                isThere ? "'\(directory)' is not a directory" : "no directory '\(directory)' to write to")
        }
    }

    /// A folder as a prefix for file paths; empty for the working directory.
    ///
    /// - Throws: A ``Failure`` when the folder does not exist.
    static func folder(_ path: String?) throws -> String {
        guard let path else { return "" }
        guard LocalFile.isDirectory(path) else {
            throw Failure(
                .cannotCreate,
                LocalFile.exists(path)
                    ? "'\(path)' is not a directory; several photos need one"
                    : "no directory '\(path)' to write to; create it first")
        }
        return path.hasSuffix("/") ? path : path + "/"
    }

    /// Makes missing folders between a folder, as returned by ``folder(_:)``, and a file below it.
    static func makeFolders(to place: String, in folder: String) throws {
        var path = folder
        for name in place.split(separator: "/").dropLast() {
            path += name
            if !LocalFile.isDirectory(path) {
                // A concurrent download may have made it.
                do { try LocalFile.makeDirectory(path) } catch  where LocalFile.isDirectory(path) {}
            }
            path += "/"
        }
    }

    /// The most bytes that the file may have without filling the disk.
    func room() throws -> Int64 { try LocalFile.room(beside: path) }

    /// Writes the file through a temporary file beside it, which is removed on failure.
    func write<Value>(_ fill: (_ temporary: String) async throws -> Value) async throws -> Value {
        let temporary = LocalFile.temporaryName(beside: path)
        do {
            let value = try await fill(temporary)
            try settle(temporary)
            return value
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Renames a finished file to its name, synced to disk.
    func settle(_ temporary: String) throws {
        try LocalFile.sync(temporary)
        try LocalFile.settle(temporary, at: path, replacing: isForced)
    }
}

/// A written file; as JSON also its contents' origin.
struct WrittenFile: CommandResult {
    var file: String
    var bytes: Int64
    var source: String

    func text(_ style: TextStyle) -> String { file }
}
