import Glibc

/// A file that a command writes: there is nothing at its name, then all of it.
struct OutputFile: Sendable {
    /// Where the file goes.
    let path: String
    /// Whether a file that is there may be replaced.
    let isForced: Bool

    /// Checks the place before anything is asked of the server.
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

    /// A folder as the beginning of the paths of files in it; the working directory's is empty.
    ///
    /// - Throws: A ``Failure`` when there is no such folder.
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

    /// Makes the folders that are missing between a folder, as ``folder(_:)`` gives it, and a file below it.
    static func makeFolders(to place: String, in folder: String) throws {
        var path = folder
        for name in place.split(separator: "/").dropLast() {
            path += name
            if !LocalFile.isDirectory(path) {
                // Another download may just have made it.
                do { try LocalFile.makeDirectory(path) } catch  where LocalFile.isDirectory(path) {}
            }
            path += "/"
        }
    }

    /// How many bytes the file may have so that the disk is not full afterwards.
    func room() throws -> Int64 { try LocalFile.room(beside: path) }

    /// Writes the file with what fills a new file beside it, which is gone when that fails.
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

    /// Puts a whole file into its place, to disk.
    func settle(_ temporary: String) throws {
        try LocalFile.sync(temporary)
        try LocalFile.settle(temporary, at: path, replacing: isForced)
    }
}

/// A file that was written; as JSON also what is in it.
struct WrittenFile: CommandResult {
    var file: String
    var bytes: Int64
    var source: String

    func text(_ style: TextStyle) -> String { file }
}
