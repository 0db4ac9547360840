import ByteClubCore

/// Reads files of the tree, each between two looks that agree.
final class FileReader {
    /// A small file's content with what the tree is to know of the file.
    struct Content: Sendable {
        let bytes: [UInt8]
        let hash: ContentHash
        let local: LocalState
    }

    /// The most bytes of contents that are kept between the reading of a file and its sending.
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

    /// Forgets contents that nobody has asked for.
    func forgetContents() { (kept, keptSize) = ([:], 0) }

    /// Keeps a content that was read, for its sender.
    func keep(_ id: ItemID, _ content: Content) {
        guard keptSize + content.bytes.count <= Self.keptBytes else { return }
        kept[id] = content
        keptSize += content.bytes.count
    }

    /// Reads the contents of files that must be known before anything is decided about them: small ones now, and asks
    /// for large ones to be read beside other work.
    ///
    /// - Returns: How many of them are known now.
    func readUnread(_ ids: [ItemID], _ report: inout SyncReport) throws -> Int {
        var known: [(id: ItemID, hash: ContentHash, look: DiskLook)] = []
        for id in ids {
            guard let local = try store.item(id)?.local else { continue }
            if local.size > SyncBatch.maximumInlineBytes {
                report.transfers.append(TransferRequest(item: id, kind: .hash))
                continue
            }
            guard let content = try read(id, local, &report), let look = content.local.look else { continue }
            known.append((id, content.hash, look))
            keep(id, content)
        }
        if known.isEmpty { return 0 }
        try store.edit(durably: false) { editor in
            for one in known { try editor.read(one.id, one.hash, one.look) }
        }
        return known.count
    }

    /// Reads and hashes a file whatever its size, on this thread; for those who compare rather than sync.
    func hash(_ id: ItemID, _ report: inout SyncReport) throws -> Bool {
        switch try scanner.readHash(of: id) {
        case .content(let hash, let look):
            guard let local = try store.item(id)?.local, local.look?.handle == look.handle else { return false }
            return try store.edit(durably: false) { editor in
                try editor.read(id, hash, look)
                return true
            }
        case .busy: report.note(.beingWritten, of: id)
        case .vanished: if let local = try store.item(id)?.local { report.rescans.insert(local.place.parent) }
        case .problem(let error): report.refuse(id, in: try store.item(id)?.local?.place.parent, error)
        }
        return false
    }

    /// A small file's content as it is to be sent: as it was read just before, or read now; nil when that must wait.
    func content(_ id: ItemID, _ seen: LocalState, _ report: inout SyncReport) throws -> Content? {
        if let known = kept.removeValue(forKey: id) {
            keptSize -= known.bytes.count
            if known.local == seen { return known }
        }
        return try read(id, seen, &report)
    }

    /// Reads a small file of an open folder and keeps the content for its sender; nil when it is large or must wait.
    func contentNow(_ id: ItemID, _ seen: LocalState, in folder: any DiskFolder) -> Content? {
        var report = SyncReport()
        guard seen.size <= SyncBatch.maximumInlineBytes,
            let content = try? read(id, seen, in: folder, &report)
        else { return nil }
        keep(id, content)
        return content
    }

    /// Reads a small file whose hash is known; nil when it is not as the tree says any more.
    func note(_ id: ItemID, _ local: LocalState, _ report: inout SyncReport) throws -> [UInt8]? {
        if let known = kept[id], known.hash == local.hash { return known.bytes }
        do {
            guard let folder = try context.handles.folder(local.place.parent, &report) else { return nil }
            let bytes = try folder.open(local.place.name.text).bytes(limit: Int(local.size) + 1)
            if Int64(bytes.count) == local.size, ContentHasher.hash(bytes) == local.hash { return bytes }
        } catch let error as FileError {
            report.refuse(id, in: local.place.parent, error)
        }
        report.rescans.insert(local.place.parent)
        return nil
    }

    /// Opens the file that the tree knows, unless somebody is writing it; nil when it must wait or is another one.
    func open(
        _ id: ItemID, _ seen: LocalState, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws(FileError) -> (file: any DiskFile, look: DiskLook)? {
        let file = try folder.open(seen.place.name.text)
        let look = try file.look()
        guard look.handle == seen.look?.handle else {
            report.rescans.insert(seen.place.parent)
            return nil
        }
        if file.isBeingWritten {
            report.note(.beingWritten, of: id)
            return nil
        }
        return (file, look)
    }

    private func read(_ id: ItemID, _ seen: LocalState, _ report: inout SyncReport) throws -> Content? {
        do {
            guard let folder = try context.handles.folder(seen.place.parent, &report) else { return nil }
            return try read(id, seen, in: folder, &report)
        } catch let error as FileError {
            report.refuse(id, in: seen.place.parent, error)
            return nil
        }
    }

    private func read(
        _ id: ItemID, _ seen: LocalState, in folder: any DiskFolder, _ report: inout SyncReport
    ) throws(FileError) -> Content? {
        guard let (file, before) = try open(id, seen, in: folder, &report) else { return nil }
        let limit = Int(min(before.fingerprint.size, SyncBatch.maximumInlineBytes)) + 1
        let bytes = try file.bytes(limit: limit)
        // The name may lead to another file by now, as when an editor renames one over it.
        guard Int64(bytes.count) == before.fingerprint.size,
            try file.look().fingerprint.isUntouched(since: before.fingerprint),
            try folder.entry(seen.place.name.text)?.look.handle == before.handle
        else {
            report.rescans.insert(seen.place.parent)
            report.note(.beingWritten, of: id)
            return nil
        }
        report.note(.readable, of: id)
        var local = seen
        let hash = ContentHasher.hash(bytes)
        local.hash = hash
        local.size = before.fingerprint.size
        local.look = before
        return Content(bytes: bytes, hash: hash, local: local)
    }
}
