/// The file system under a mirror: what the engine does to it and sees of it, so that a test can be one.
///
/// Names are single components and links are never followed. All calls block; each failure is a ``FileError``.
protocol Disk: Sendable {
    /// Opens the mirror's root.
    func openRoot() throws(FileError) -> any DiskFolder
    /// The time of day in nanoseconds since 1970, by the clock that stamps the files.
    func now() -> Int64
    /// What the file system cannot do, so that something weaker has to stand in, as lines for people; in a fixed order.
    var limitations: [String] { get }
}

/// What an entry of a folder is.
enum DiskKind: Hashable, Sendable {
    case file
    case folder
    /// A symbolic link, a pipe, a socket, a device or another file system: never synced. The text says which, for people.
    case other(String)
}

/// An entry of a folder.
struct DiskEntry: Hashable, Sendable {
    /// The name; what is not UTF-8 is replaced by `U+FFFD`, and ``isDecodable`` is false.
    var name: String
    var isDecodable: Bool
    var kind: DiskKind
    var look: DiskLook
}

/// A quick look at a folder: the sum of its entries' names and looks.
struct DiskSeal: Hashable, Sendable {
    var high: UInt64
    var low: UInt64
    /// Whether an entry has changed so lately that a write right after the look could have gone unseen.
    var isRacy: Bool
}

/// How a rename treats what is at its target.
enum RenameMode: Hashable, Sendable {
    /// The target must be free; the error is `EEXIST` otherwise.
    case withoutReplacing
    /// Both entries change places in one step.
    case exchanging
}

/// An open folder.
///
/// It stays the same folder when it is renamed or moved.
protocol DiskFolder: AnyObject, Sendable {
    /// What the system tells about the folder itself.
    func look() throws(FileError) -> DiskLook
    /// All entries, in no order, and their sum.
    ///
    /// An entry that vanishes meanwhile is left out.
    func sealedList() throws(FileError) -> (entries: [DiskEntry], seal: DiskSeal)
    /// The sum over what ``sealedList()`` would tell, without telling it. Private and excluded names count like all others.
    ///
    /// A folder in it counts with its name and with which folder it is, but not with its times: those change with what
    /// is in it, which is its own seal's business.
    func seal() throws(FileError) -> DiskSeal
    /// What ``seal()`` says of several folders of the same disk, in their order; they may be looked at side by side.
    func seals(of folders: [any DiskFolder]) -> [Result<DiskSeal, FileError>]
    /// What is under a name; nil when nothing is.
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
    /// Gives a file in it the permissions and the group of another one, before it takes that one's place; false when it has
    /// them already, or the other is gone.
    func takeAccess(_ name: String, from other: String, in folder: any DiskFolder) throws(FileError) -> Bool
    /// Lets nobody in but its owner.
    func closeToOthers() throws(FileError)
    /// Removes a file for good. Only for our own staging.
    func removeFile(_ name: String) throws(FileError)
    /// Renames an entry, also into another folder of the same file system.
    func rename(_ name: String, to folder: any DiskFolder, _ newName: String, _ mode: RenameMode) throws(FileError)
    /// Makes the folder's entries durable.
    func sync() throws(FileError)
    /// Makes everything on the file system durable.
    func syncFileSystem() throws(FileError)
    /// A path under which this process can reach it, for those who need a path; nil when there is none.
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
    func list() throws(FileError) -> [DiskEntry] { try sealedList().entries }

    func seals(of folders: [any DiskFolder]) -> [Result<DiskSeal, FileError>] { sealsInTurn(of: folders) }

    /// The same, one folder after the other.
    func sealsInTurn(of folders: [any DiskFolder]) -> [Result<DiskSeal, FileError>] {
        folders.map { folder in Result { () throws(FileError) in try folder.seal() } }
    }
}

/// An open file.
protocol DiskFile: AnyObject, Sendable {
    /// What the system tells about it now.
    func look() throws(FileError) -> DiskLook
    /// Fills a buffer from an offset and tells how many bytes there were; fewer only at the end.
    func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int
    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(FileError)
    /// Makes the bytes durable.
    func sync() throws(FileError)
    /// Whether somebody has it open for writing; unknown counts as no.
    var isBeingWritten: Bool { get }
    /// A path under which this process can open it, for those who need a path; nil when there is none.
    var path: String? { get }
}
