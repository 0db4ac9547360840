import ByteClubCore
import Glibc

/// What a scan of single files found.
struct FileScan {
    /// The items to plan.
    var ready: Set<ItemID> = []
    /// The folders that must be scanned before anything is decided.
    var rescans: Set<ItemID> = []
    /// Racy files: they changed so recently that their times may not show the next change.
    var racy: ClosedFiles = [:]
}

extension Scanner {
    /// Scans single files that were just saved, and reads small ones for their upload.
    ///
    /// So a note waits for no scan of its folder, and needs none: only unambiguous changes are recorded.
    ///
    /// - Throws: The store's errors.
    func scanFiles(_ closed: ClosedFiles, _ reader: FileReader) throws -> FileScan {
        var found = FileScan()
        try store.transaction(durably: false) {
            let pass = try ScanPass(self)
            for (folder, names) in closed.sorted(by: { $0.key < $1.key }) {
                let writes = pass.writes
                let isClear = try scan(names.sorted { $0.text < $1.text }, in: folder, pass, reader, &found)
                if pass.writes > writes { try store.setListing(nil, of: folder) }
                if !isClear { found.rescans.insert(folder) }
            }
        }
        return found
    }

    /// Returns false when the whole folder must be scanned.
    private func scan(
        _ names: [EntryName], in id: ItemID, _ pass: ScanPass, _ reader: FileReader, _ scan: inout FileScan
    ) throws -> Bool {
        guard let found = try pass.handles.reach(id), found.item == id,
            let path = try store.localPath(of: id), !pass.problems.has(path)
        else { return false }
        for name in names {
            let entry: DiskEntry?
            do throws(FileError) { entry = try found.folder.entry(name.text) } catch { return false }
            guard let entry else {
                // It was deleted or moved, which the folder's scan decides.
                if try store.children(of: id, key: name.key, on: .local).isEmpty,
                    !pass.problems.has(LocalPath.join(path, name.text))
                {
                    continue
                }
                return false
            }
            guard let item = try take(entry, in: found.folder, at: Location(id, name), path, pass, &scan) else {
                return false
            }
            if item == .root { continue }
            try read(item, in: found.folder, reader)
            if try store.item(item)?.isSettled == false { scan.ready.insert(item) }
            if entry.stat.isRacy { scan.racy[id, default: []].insert(name) }
        }
        return true
    }

    /// Reads a small file whose content is not known, so that it can be decided about and sent at once.
    private func read(_ id: ItemID, in folder: any DiskFolder, _ reader: FileReader) throws {
        guard let local = try store.item(id)?.local, local.hash == nil,
            let content = reader.contentNow(id, local, in: folder), let stat = content.local.stat
        else { return }
        try store.editing { editor in try editor.read(id, content.hash, stat) }
    }

    /// Records a file that the tree has under the same name, or a new one; nil for anything else.
    ///
    /// - Returns: The item, or the root for an excluded file.
    private func take(
        _ entry: DiskEntry, in folder: any DiskFolder, at location: Location, _ folderPath: String, _ pass: ScanPass,
        _ scan: inout FileScan
    ) throws -> ItemID? {
        guard entry.kind == .file, entry.isDecodable else { return nil }
        let path = LocalPath.join(folderPath, entry.name)
        let key = PathKey(folded: "/" + PathKey.fold(path))
        switch rules.verdict(entry, key: key, depth: folderPath.isEmpty ? 0 : folderPath.utf8.count + 1) {
        case .included: break
        case .excluded: return .root
        case .problem: return nil
        }
        if pass.problems.has(path) { return nil }
        let namesakes = try store.children(of: location.parent, key: location.name.key, on: .local)
        guard let known = namesakes.first else {
            guard try store.items(handle: entry.stat.handle).isEmpty else { return nil }
            let id = try store.newItem()
            try pass.create(id, entry, at: location)
            return id
        }
        guard namesakes.count == 1, !known.isFolder, !known.isFrozen, !known.isExcluded,
            known.local?.location == location
        else { return nil }
        // It was moved here, or is the same file as another by a hard link, which has changed as well.
        let others = try store.items(handle: entry.stat.handle).filter { $0.id != known.id }
        if !others.isEmpty {
            scan.rescans.formUnion(others.compactMap { $0.local?.location.parent })
            return nil
        }
        try pass.observe(known, entry, in: folder, at: location)
        return known.id
    }
}

extension Scanner {
    /// The result of reading a file.
    enum Reading: Hashable, Sendable {
        /// The content's hash, and the file's stat, which was the same before and after. With a racy stat, the hash
        /// must be checked again later.
        case content(ContentHash, FileStat)
        /// It is being written, or was written meanwhile.
        case busy
        /// It is not where the tree has it.
        case vanished
        /// It cannot be read.
        case problem(FileError)
    }

    private static let bufferSize = 256 << 10

    /// Reads and hashes a file of the tree.
    ///
    /// - Throws: The store's errors; what the disk refuses is in the result.
    func readHash(of item: ItemID) throws -> Reading {
        guard let location = try store.item(item)?.local?.location else { return .vanished }
        let name = location.name.text
        do {
            let folder = try FolderHandles(root: root, tree: store).folder(location.parent)
            guard let entry = try folder.entry(name), entry.kind == .file else { return .vanished }
            let file = try folder.open(name)
            let stat = try file.stat()
            if file.isBeingWritten { return .busy }
            let hash = try Self.hash(file)
            // The name may refer to another file by now, as when an editor renames one over it.
            guard let after = try folder.entry(name), after.kind == .file else { return .vanished }
            let isSame = after.stat.handle == stat.handle && after.stat.fingerprint.isUntouched(since: stat.fingerprint)
            return isSame ? .content(hash, stat) : .busy
        } catch let error as FileError {
            return error.isMissing ? .vanished : .problem(error)
        }
    }

    /// The hash of a file's content, in constant memory.
    static func hash(_ file: any DiskFile) throws(FileError) -> ContentHash {
        var hasher = ContentHasher()
        var buffer = [UInt8](repeating: 0, count: bufferSize)
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: &buffer, at: offset)
            unsafe buffer.withUnsafeBytes { unsafe hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            if count < buffer.count { return hasher.finalize() }
            offset += Int64(count)
        }
    }
}
