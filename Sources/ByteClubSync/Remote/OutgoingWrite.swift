import ByteClubCore

/// A write to the server, with the state it was prepared from.
struct OutgoingWrite: Sendable {
    /// What it does to the server's tree.
    enum Effect: Sendable {
        case folder
        case content(ContentHash, size: Int64)
        case move(Location)
        /// How many entries are deleted, those in a folder included.
        case delete(nodes: Int)
    }

    let item: ItemID
    let effect: Effect
    /// The local state when it was prepared; nil when the disk is not involved.
    var local: LocalState?
    /// The server's revision of the entry when it was prepared; nil when it sent none, or had no such entry.
    var seen: Revision?
    /// The entry's path on the server before it was moved or deleted, for the event.
    var pathBefore: String?

    /// The content that it sends; nil when it sends none.
    var hash: ContentHash? { if case .content(let hash, _) = effect { hash } else { nil } }

    /// Where it puts an entry that the server has already; nil when it leaves it where it is.
    var target: Location? { if case .move(let location) = effect { location } else { nil } }

    /// The merge base of its item once the server has accepted it and reports this state; nil for none.
    func base(of item: Item, _ reported: RemoteState) -> SyncedState? {
        switch effect {
        case .folder:
            guard let location = local?.location else { return item.synced }
            return SyncedState(
                location: location, remoteName: location.name.unless(reported.location.name), isFolder: true,
                revision: reported.revision)
        case .content(let hash, let size):
            guard let location = item.synced?.location ?? local?.location else { return item.synced }
            return SyncedState(
                location: location,
                remoteName: item.synced.map { $0.remoteName } ?? location.name.unless(reported.location.name),
                isFolder: false, hash: hash, size: size, revision: reported.revision,
                isExecutable: item.agreedExecutable(local, reported))
        case .move(let location):
            guard var base = item.synced else { return nil }
            // Without identities, a move makes a revision of its own.
            if reported.node == nil, !item.isFolder { base.revision = reported.revision }
            if let local = item.local, local.location.isSameKey(as: location) {
                base.location = local.location
                base.remoteName = local.location.name.unless(reported.location.name)
            }
            return base
        case .delete: return item.synced
        }
    }

    /// Logs the completed write; to be called in a transaction.
    ///
    /// - Returns: The event, and how many entries it concerns.
    func log(in context: SyncContext) throws -> SyncReport.Emission {
        switch effect {
        case .folder: return .init(event: try context.log(.makeRemoteFolder, item))
        case .content(_, let size): return .init(event: try context.log(.upload, item, bytes: size))
        case .move: return .init(event: try context.log(.moveRemote, item, from: pathBefore))
        case .delete(let nodes):
            let path = pathBefore ?? ""
            try context.log(.deleteRemote, path)
            return .init(event: SyncEvent(.deleteRemote, path: path), nodes: nodes)
        }
    }
}

extension SyncContext {
    /// Records the hashes that are being sent, so that they are recognised when an answer is lost.
    func noteSending(_ writes: [OutgoingWrite]) throws {
        let contents = writes.filter { $0.hash != nil }
        if contents.isEmpty { return }
        try store.edit(durably: false) { editor in for write in contents { try editor.sending(write) } }
    }
}

/// A write as an operation of the extension, ready to be sent.
struct BatchedWrite: Sendable {
    let write: OutgoingWrite
    let operation: SyncOperation
    /// The inline bytes.
    var bytes: [UInt8]?
    /// The file of a content that is sent before the batch.
    var file: OpenedFile?

    /// Its approximate size in a batch, in bytes.
    fileprivate var weight: Int { (bytes?.count ?? 0) + 320 + 2 * (operation.place?.name.utf8.count ?? 0) }
}

/// Writes that are sent in one batch, whose files are sent in one request before it.
struct OutgoingBatch: Sendable {
    /// The most bytes of files, and the most files: fewer would cost more syncs, more would keep too many files open.
    static let mostFileBytes: Int64 = 24 << 20
    private static let mostFiles = 128

    private(set) var writes: [BatchedWrite] = []
    private var weight = 1_024
    private var files = 0
    private var fileBytes: Int64 = 0

    /// Whether no write may be added.
    var isFull: Bool {
        writes.count >= SyncBatch.maximumOperations || files >= Self.mostFiles || fileBytes >= Self.mostFileBytes
    }

    /// Adds a write; false when its bytes are too many for this batch.
    mutating func add(_ write: BatchedWrite) -> Bool {
        guard weight + write.weight <= SyncBatch.maximumBytes else { return false }
        weight += write.weight
        if let file = write.file { (files, fileBytes) = (files + 1, fileBytes + file.stat.fingerprint.size) }
        writes.append(write)
        return true
    }

    /// Sends the files that the server does not have, then the writes.
    func send(to wire: any SyncRemote) async -> Result<SyncOutcome, RemoteError> {
        do throws(RemoteError) {
            try await sendFiles(to: wire)
            for case let file? in writes.map(\.file) where (try? file.isUntouched()) != true {
                throw RemoteError(.localFile, "a file changed while it was sent")
            }
            let batch = SyncBatch(writes.map(\.operation))
            return .success(try await wire.apply(batch, contents: writes.compactMap(\.bytes)))
        } catch {
            return .failure(error)
        }
    }

    private func sendFiles(to wire: any SyncRemote) async throws(RemoteError) {
        let hashes = writes.filter { $0.file != nil }.compactMap(\.write.hash)
        if hashes.isEmpty { return }
        var missing = Set(try await wire.missingChunks(of: hashes))
        var chunks: [OutgoingChunk] = []
        for ready in writes {
            guard let opened = ready.file, let hash = ready.write.hash, missing.remove(hash) != nil else { continue }
            let size = opened.stat.fingerprint.size
            do throws(FileError) {
                let content: Content =
                    if let path = opened.file.path { .file(path: path) } else {
                        .bytes(try opened.file.bytes(limit: Int(size) + 1))
                    }
                chunks.append(OutgoingChunk(hash: hash, bytes: size, content: content))
            } catch {
                throw RemoteError(.localFile, error.description)
            }
        }
        if !chunks.isEmpty { try await wire.putChunks(chunks) }
    }

    /// Has the folders of those files scanned again that changed while they were sent; false when there are none.
    ///
    /// The other writes are planned again.
    func rescanChanged(_ report: inout SyncReport) -> Bool {
        let changed = writes.compactMap(\.file).filter { (try? $0.isUntouched()) != true }
        for one in changed {
            report.rescans.insert(one.local.location.parent)
            report.note(.beingWritten, of: one.item)
        }
        if !changed.isEmpty { report.distrustFeed(.echoExpected) }
        return !changed.isEmpty
    }
}
