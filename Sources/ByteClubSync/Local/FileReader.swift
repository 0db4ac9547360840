import ByteClubCore

/// Reads files of the tree; a file counts as read when its stats before and after agree.
final class FileReader {
    /// A small file's content with its new local state.
    struct Content: Sendable {
        let bytes: [UInt8]
        let hash: ContentHash
        let local: LocalState
    }

    /// The most bytes of contents that are kept in memory between reading and sending.
    private static let keptBytes = 16 << 20

    private let context: SyncContext
    private let scanner: Scanner
    private var kept: [ItemID: Content] = [:]
    private var keptSize = 0
    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ scanner: Scanner) {
        self.context = context
        self.scanner = scanner
    }

    /// Drops contents that were not sent.
    func forgetContents() { (kept, keptSize) = ([:], 0) }

    /// Keeps a content in memory for its upload, in place of an earlier one of the item.
    func keep(_ id: ItemID, _ content: Content) {
        let size = keptSize - (kept[id]?.bytes.count ?? 0) + content.bytes.count
        guard size <= Self.keptBytes else { return }
        kept[id] = content
        keptSize = size
    }

    /// Reads files whose hash the planner needs: files of at most `limit` bytes at once, larger ones by a request for
    /// background work.
    ///
    /// - Returns: How many of them are known now.
    func readUnread(_ ids: [ItemID], upTo limit: Int64, _ report: inout SyncReport) async throws -> Int {
        var known: [(id: ItemID, hash: ContentHash, stat: FileStat)] = []
        var photos = PhotoHashing(context)
        for id in ids {
            guard let local = try store.item(id)?.local else { continue }
            if local.size > limit {
                report.transfers.append(TransferRequest(item: id, kind: .hash))
                continue
            }
            if local.size > SyncBatch.maximumInlineBytes {
                if let photo = try open(id, local, &report) { photos.add(photo) }
                if photos.isFull { known += try await photos.run(&report) }
                continue
            }
            guard let content = try read(id, local, &report), let stat = content.local.stat else { continue }
            known.append((id, content.hash, stat))
            keep(id, content)
        }
        known += try await photos.run(&report)
        if known.isEmpty { return 0 }
        try store.edit(durably: false) { editor in
            for one in known { try editor.read(one.id, one.hash, one.stat) }
        }
        return known.count
    }

    /// Reads and hashes a file of any size on this thread; for verification and dry runs.
    func hash(_ id: ItemID, _ report: inout SyncReport) throws -> Bool {
        switch try scanner.readHash(of: id) {
        case .content(let hash, let stat):
            guard let local = try store.item(id)?.local, local.stat?.handle == stat.handle else { return false }
            return try store.edit(durably: false) { editor in
                try editor.read(id, hash, stat)
                return true
            }
        case .busy: report.note(.beingWritten, of: id)
        case .vanished: if let local = try store.item(id)?.local { report.rescans.insert(local.location.parent) }
        case .problem(let error): report.refuse(id, in: try store.item(id)?.local?.location.parent, error)
        }
        return false
    }

    /// A small file's content for its upload: kept from planning, or read now; nil when that must wait.
    func content(_ id: ItemID, _ seen: LocalState, _ report: inout SyncReport) throws -> Content? {
        var content: Content?
        if let known = kept.removeValue(forKey: id) {
            keptSize -= known.bytes.count
            if known.local == seen { content = known }
        }
        if content == nil { content = try read(id, seen, &report) }
        if let stat = content?.local.stat { try noteDate(of: id, stat, &report) }
        return content
    }

    /// Reports a file that is about to be sent without its date, since other file systems could not store that.
    func noteDate(of id: ItemID, _ stat: FileStat, _ report: inout SyncReport) throws {
        if stat.fingerprint.time != nil { return }
        report.emitOnce(
            SyncEvent(
                .problem, path: try store.shownPath(of: id),
                message: "its date is not in the years 1678 to 2261: it is uploaded without it"))
    }

    /// Reads a small file of an open folder and keeps the content for its upload; nil when it is large or must wait.
    func contentNow(_ id: ItemID, _ seen: LocalState, in folder: any DiskFolder) -> Content? {
        var report = SyncReport()
        guard seen.size <= SyncBatch.maximumInlineBytes,
            let content = try? read(id, seen, in: folder, &report)
        else { return nil }
        keep(id, content)
        return content
    }

    /// Reads a small file whose hash is known; nil when it no longer matches the tree.
    func note(_ id: ItemID, _ local: LocalState, _ report: inout SyncReport) throws -> [UInt8]? {
        if let known = kept[id], known.hash == local.hash { return known.bytes }
        do {
            guard let folder = try context.handles.folder(local.location.parent, &report) else { return nil }
            let bytes = try folder.open(local.location.name.text).bytes(limit: Int(local.size) + 1)
            if Int64(bytes.count) == local.size, ContentHasher.hash(bytes) == local.hash { return bytes }
        } catch let error as FileError {
            report.refuse(id, in: local.location.parent, error)
        }
        report.rescans.insert(local.location.parent)
        return nil
    }

    /// Opens the file that the tree knows, unless it is being written; nil when it must wait or is another file.
    func open(
        _ id: ItemID, _ seen: LocalState, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws(FileError) -> (file: any DiskFile, stat: FileStat)? {
        let file = try folder.open(seen.location.name.text)
        let stat = try file.stat()
        guard stat.handle == seen.stat?.handle else {
            report.rescans.insert(seen.location.parent)
            return nil
        }
        if file.isBeingWritten {
            report.note(.beingWritten, of: id)
            return nil
        }
        return (file, stat)
    }

    /// Opens the file that the tree knows, to be read later; nil when that must wait.
    func open(_ id: ItemID, _ seen: LocalState, _ report: inout SyncReport) throws -> OpenedFile? {
        do {
            guard let folder = try context.handles.folder(seen.location.parent, &report),
                let (file, stat) = try open(id, seen, in: folder, &report)
            else { return nil }
            return OpenedFile(item: id, local: seen, file: file, stat: stat)
        } catch let error as FileError {
            report.refuse(id, in: seen.location.parent, error)
            return nil
        }
    }

    private func read(_ id: ItemID, _ seen: LocalState, _ report: inout SyncReport) throws -> Content? {
        do {
            guard let folder = try context.handles.folder(seen.location.parent, &report) else { return nil }
            return try read(id, seen, in: folder, &report)
        } catch let error as FileError {
            report.refuse(id, in: seen.location.parent, error)
            return nil
        }
    }

    private func read(
        _ id: ItemID, _ seen: LocalState, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws(FileError) -> Content? {
        guard let (file, before) = try open(id, seen, in: folder, &report) else { return nil }
        let limit = Int(min(before.fingerprint.size, SyncBatch.maximumInlineBytes)) + 1
        let bytes = try file.bytes(limit: limit)
        // The name may refer to another file by now, as when an editor renames one over it.
        guard Int64(bytes.count) == before.fingerprint.size,
            try file.stat().fingerprint.isUntouched(since: before.fingerprint),
            try folder.entry(seen.location.name.text)?.stat.handle == before.handle
        else {
            report.rescans.insert(seen.location.parent)
            report.note(.beingWritten, of: id)
            return nil
        }
        report.note(.readable, of: id)
        var local = seen
        let hash = ContentHasher.hash(bytes)
        local.hash = hash
        local.size = before.fingerprint.size
        local.stat = before
        return Content(bytes: bytes, hash: hash, local: local)
    }
}
