import ByteClubCore
import Glibc

/// The file system of a mirror, as a protocol that tests implement in memory.
///
/// Names are single components and links are never followed. All calls block; each failure is a ``FileError``.
protocol Disk: Sendable {
    /// Opens the mirror's root.
    func openRoot() throws(FileError) -> any DiskFolder
    /// The time of day in nanoseconds since 1970, by the clock that stamps the files.
    func now() -> Int64
}

/// What an entry of a folder is.
enum DiskKind: Hashable, Sendable {
    case file
    case folder
    /// A symbolic link, a pipe, a socket, a device or another file system: never synced. The text is the name of the
    /// type for people.
    case other(String)
}

/// An entry of a folder.
struct DiskEntry: Hashable, Sendable {
    /// The name; invalid UTF-8 is replaced by `U+FFFD`, and ``isDecodable`` is false.
    var name: String
    var isDecodable: Bool
    var kind: DiskKind
    var stat: FileStat
}

/// A hash over a folder's listing: its entries' names and stats.
struct ListingFingerprint: Hashable, Sendable {
    var high: UInt64
    var low: UInt64
    /// Whether an entry changed so recently that a write right after the listing could go unnoticed (git: racily
    /// clean).
    var isRacy: Bool
}

/// The treatment of an existing entry at a rename's target.
enum RenameMode: Hashable, Sendable {
    /// The target must be free; the error is `EEXIST` otherwise.
    case withoutReplacing
    /// Both entries are exchanged atomically.
    case exchanging
}

/// An open folder.
///
/// It is the same folder after it is renamed or moved.
protocol DiskFolder: AnyObject, Sendable {
    /// The stat of the folder itself.
    func stat() throws(FileError) -> FileStat
    /// All entries, in no order, and the listing's fingerprint.
    ///
    /// An entry that vanishes meanwhile is left out.
    func fingerprintedList() throws(FileError) -> (entries: [DiskEntry], fingerprint: ListingFingerprint)
    /// The fingerprint that ``fingerprintedList()`` would return, without the entries. Private and excluded names count
    /// like all others.
    ///
    /// A subfolder counts with its name and inode, but not with its times: those change with its contents, which its
    /// own fingerprint covers.
    func listingFingerprint() throws(FileError) -> ListingFingerprint
    /// The fingerprints of several folders of the same disk, in their order; they may be computed in parallel.
    func listingFingerprints(of folders: [any DiskFolder]) -> [Result<ListingFingerprint, FileError>]
    /// The entry of a name; nil when there is none.
    func entry(_ name: String) throws(FileError) -> DiskEntry?
    /// Opens a folder in it.
    func folder(_ name: String) throws(FileError) -> any DiskFolder
    /// Makes a folder in it; `EEXIST` when something is there.
    func makeFolder(_ name: String) throws(FileError)
    /// Removes an empty folder; `ENOTEMPTY` when it is not.
    func removeFolder(_ name: String) throws(FileError)
    /// Opens a file for reading.
    func open(_ name: String) throws(FileError) -> any DiskFile
    /// Makes a new file and opens it for writing; `EEXIST` when something is there.
    func create(_ name: String) throws(FileError) -> any DiskFile
    /// Copies the permissions and the group of a file to the one that is about to replace it; false when they are equal
    /// already, or the other file does not exist.
    func takeAccess(_ name: String, from other: String, in folder: any DiskFolder) throws(FileError) -> Bool
    /// Finds out with a temporary file of this name what the file system cannot do, and what every stat would report
    /// wrongly for that reason. Only in our own staging.
    func learnLimits(with name: String) throws(FileError)
    /// Removes all permissions but the owner's.
    func closeToOthers() throws(FileError)
    /// Removes a file for good. Only for our own staging.
    func removeFile(_ name: String) throws(FileError)
    /// Renames an entry, also into another folder of the same file system.
    func rename(_ name: String, to folder: any DiskFolder, _ newName: String, _ mode: RenameMode) throws(FileError)
    /// Acquires or releases an advisory lock of the folder itself, held as long as it is open; false while another has
    /// it.
    func setLocked(_ isLocked: Bool) throws(FileError) -> Bool
    /// Makes the folder's entries durable.
    func sync() throws(FileError)
    /// Makes everything on the file system durable.
    func syncFileSystem() throws(FileError)
    /// A path by which this process can reach it, for calls that need one; nil when there is none.
    var path: String? { get }
    /// Bytes free for this user on the file system, and how many it has in all.
    func room() throws(FileError) -> (free: Int64, total: Int64)
    /// What identifies the file system, the same after a restart.
    func fileSystem() throws(FileError) -> String
}

extension DiskFolder {
    /// All entries, in no order.
    ///
    /// An entry that vanishes meanwhile is left out.
    func list() throws(FileError) -> [DiskEntry] { try fingerprintedList().entries }

    /// Opens a folder below it, by its path.
    func folder(below path: String) throws(FileError) -> any DiskFolder {
        var current: any DiskFolder = self
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            current = try current.folder(String(Substring(name)))
        }
        return current
    }

    /// Opens a subfolder and creates it when it is missing.
    func subfolder(_ name: String) throws(FileError) -> any DiskFolder {
        do throws(FileError) {
            return try folder(name)
        } catch {
            guard error.code == ENOENT else { throw error }
        }
        do throws(FileError) {
            try makeFolder(name)
        } catch {
            guard error.code == EEXIST else { throw error }
        }
        return try folder(name)
    }

    /// Moves a file into another folder under the first conflict name that is free there, and makes that durable.
    ///
    /// - Returns: The name.
    func moveBeside(
        _ name: String, _ original: String, in home: any DiskFolder, _ naming: ConflictNaming
    ) throws(FileError) -> String {
        let stamp = naming.stamp(try entry(name)?.stat)
        var number = 1
        while true {
            let copy = ConflictName.name(for: original, stamp, number: number)
            do throws(FileError) {
                try rename(name, to: home, copy, .withoutReplacing)
                try home.sync()
                return copy
            } catch {
                guard error.code == EEXIST else { throw error }
                number += 1
            }
        }
    }

    func setLocked(_: Bool) throws(FileError) -> Bool { true }

    func listingFingerprints(of folders: [any DiskFolder]) -> [Result<ListingFingerprint, FileError>] {
        folders.map { folder in Result { () throws(FileError) in try folder.listingFingerprint() } }
    }
}

/// An open file.
protocol DiskFile: AnyObject, Sendable {
    /// The file's stat now.
    func stat() throws(FileError) -> FileStat
    /// Fills a buffer from an offset and returns the number of bytes read; fewer only at the end.
    func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int
    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(FileError)
    /// Sets the time when it was last written.
    func setModified(_ time: FileTime) throws(FileError)
    /// Allows all who may read the file to execute it, or forbids it to all; false when the owner's permission is right
    /// already.
    func setExecutable(_ isExecutable: Bool) throws(FileError) -> Bool
    /// Makes the bytes durable.
    func sync() throws(FileError)
    /// Whether a process has it open for writing; unknown counts as no.
    var isBeingWritten: Bool { get }
    /// A path by which this process can open it, for calls that need one; nil when there is none.
    var path: String? { get }
}

extension DiskFile {
    /// All bytes, up to a limit.
    func bytes(limit: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try read(into: &bytes, at: 0)
        bytes.removeLast(limit - count)
        return bytes
    }
}
