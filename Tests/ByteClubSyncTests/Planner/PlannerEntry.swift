/// An entry as a row of the planner's table tells it: a path, and what has become of it on either side.
///
/// Untold, both sides show it there and it is synced, a file with the content `1`. A path names the folder by what the
/// row calls it, wherever that folder is now: `q/b` is `b` in the entry `q`, even when `q` has moved.
struct PlannerEntry: Sendable {
    /// What one side shows, or what both showed when they were last equal.
    struct Version: Sendable {
        var path: String
        /// A hexadecimal digit, of which the content's hash is made; nil when nobody knows the hash.
        var content: String?
        /// The number of the server's revision.
        var revision: Int64 = 1
    }

    let path: String
    let isFolder: Bool
    /// What the row calls it: the path, unless two entries have the same.
    private(set) var name: String
    private(set) var disk: Version?
    private(set) var server: Version?
    private(set) var base: Version?
    /// The last part of the path as the server spells it, when that is another spelling.
    private(set) var serverSpelling: String?
    private(set) var isLeftover = false
    private(set) var isExcluded = false
    private(set) var isFrozen = false

    init(_ path: String, isFolder: Bool) {
        self.path = path
        self.isFolder = isFolder
        name = path
        let version = Version(path: path, content: isFolder ? nil : "1")
        (disk, server, base) = (version, version, version)
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var entry = self
        change(&entry)
        return entry
    }

    /// Another name for the row, where two entries have the same path.
    func called(_ name: String) -> Self { with { $0.name = name } }

    /// The content it has from the start.
    func holding(_ content: String) -> Self {
        with {
            $0.disk?.content = content
            $0.server?.content = content
            $0.base?.content = content
        }
    }

    // MARK: What somebody did

    func newOnDisk(_ content: String = "1") -> Self {
        with {
            $0.disk?.content = content
            ($0.server, $0.base) = (nil, nil)
        }
    }

    func newOnServer(_ content: String = "1") -> Self {
        with {
            $0.server?.content = content
            ($0.disk, $0.base) = (nil, nil)
        }
    }

    /// On both sides and one entry, but never synced: so it is after the database was lost.
    func newOnBoth(disk: String = "1", server: String = "1") -> Self {
        with {
            $0.disk?.content = disk
            $0.server?.content = server
            $0.base = nil
        }
    }

    func editedOnDisk(_ content: String) -> Self { with { $0.disk?.content = content } }

    func editedOnServer(_ content: String) -> Self {
        with {
            $0.server?.content = content
            $0.server?.revision += 1
        }
    }

    func movedOnDisk(to path: String) -> Self { with { $0.disk?.path = path } }

    func movedOnServer(to path: String) -> Self { with { $0.server?.path = path } }

    func deletedOnDisk() -> Self { with { $0.disk = nil } }

    func deletedOnServer() -> Self { with { $0.server = nil } }

    // MARK: What is known of it

    /// Nobody has read the file on disk since it changed.
    func unread() -> Self { with { $0.disk?.content = nil } }

    /// The server does not send the content's hash.
    func unreported() -> Self { with { $0.server?.content = nil } }

    /// The server tells of a new revision; of what, only the hash can say.
    func newRevision() -> Self { with { $0.server?.revision += 1 } }

    /// The server has had this spelling of the name from the start.
    func spelledOnServer(_ spelling: String) -> Self {
        with {
            $0.server?.path = String(path.dropLast(path.split(separator: "/").last?.count ?? 0)) + spelling
            $0.serverSpelling = spelling
        }
    }

    /// A folder that is gone on the server, and on disk for what is in it alone.
    func leftOver() -> Self { newOnDisk().with { $0.isLeftover = true } }

    /// Ignored or not selected.
    func excluded() -> Self { with { $0.isExcluded = true } }

    /// It cannot be read, named or scanned now.
    func frozen() -> Self { with { $0.isFrozen = true } }

    /// Neither side has told of it yet.
    func unknown() -> Self { with { ($0.disk, $0.server, $0.base) = (nil, nil, nil) } }
}
