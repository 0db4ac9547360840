/// One thing to do so that mirror and server come to agree.
///
/// Each step says what its author saw; whoever carries it out checks that it still holds and otherwise leaves all as it
/// is, since the next plan is made from what is there then.
public enum Step: Hashable, Sendable {
    /// Both sides hold this already: remember it as synced.
    case adopt(local: Node, remote: Node)
    /// Both sides have lost it: forget it.
    case forget(PathKey)
    /// Make a local folder.
    case createLocalFolder(remote: Node)
    /// Make a folder on the server.
    case createRemoteFolder(local: Node)
    /// Get the server's content; `replacing` is the local file as it was seen, nil when there was none.
    case download(remote: Node, replacing: Node?)
    /// Send local content; `parent` is the server's version that it replaces, nil when there must be none.
    case upload(local: Node, parent: Node?)
    /// Put the local entry into the trash; a folder only when nothing else is left in it.
    case deleteLocal(local: Node)
    /// Delete on the server what has not changed since; a folder with all below it when `recursive`.
    case deleteRemote(remote: Node, recursive: Bool)
    /// Both sides changed: rename the local entry to a conflict copy; a later plan syncs both.
    ///
    /// When `copy` is taken, even by the same bytes, which another step may be about to replace: take the first free
    /// of ``ConflictName/path(for:loser:number:)`` from number 2.
    case keepBoth(local: Node, remote: Node, copy: RemotePath)

    /// The path that the step is about.
    public var key: PathKey {
        switch self {
        case .adopt(let local, _), .createRemoteFolder(let local), .upload(let local, _), .deleteLocal(let local),
            .keepBoth(let local, _, _):
            local.path.key
        case .createLocalFolder(let remote), .download(let remote, _), .deleteRemote(let remote, _): remote.path.key
        case .forget(let key): key
        }
    }

    /// Whether the step removes an entry from one side.
    public var isDeletion: Bool {
        switch self {
        case .deleteLocal, .deleteRemote: true
        default: false
        }
    }
}

/// What to do, in an order in which each step may be done when those before it are.
///
/// Steps of one stage commute, save for a folder and what is below it; a stage starts when the one before it has ended.
public struct Plan: Hashable, Sendable {
    /// Bookkeeping without effect.
    public var adoptions: [Step] = []
    /// Conflict copies, which free the places that later steps fill.
    public var conflicts: [Step] = []
    /// Folders, parents first.
    public var folders: [Step] = []
    /// Uploads and downloads.
    public var transfers: [Step] = []
    /// Deletions, children first.
    public var deletions: [Step] = []

    /// Creates an empty plan.
    public init() {}

    /// All steps in order.
    public var steps: [Step] { adoptions + conflicts + folders + transfers + deletions }
    /// Whether there is nothing to do.
    public var isEmpty: Bool {
        adoptions.isEmpty && conflicts.isEmpty && folders.isEmpty && transfers.isEmpty && deletions.isEmpty
    }
}
