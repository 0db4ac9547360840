import ByteClubCore

/// What staging keeps of the transfers of large files, so that the next attempt resumes, also another engine's.
///
/// A download has a folder with the files from which the remote resumes, and an upload a file with its position, which
/// is a hint: without it the upload starts over. None of them is ever a user's: they are removed once no item needs
/// them, and never moved to the trash.
final class StagedTransfers {
    /// The file in a folder that is there when all bytes have come.
    static let content = "content"
    /// The file in a folder in which the remote keeps how far a download is.
    static let journal = "journal"

    /// The most bytes of an upload's file.
    private static let positionLimit = 4 << 10

    /// A content that an item waits for.
    private struct Wanted: Hashable {
        let item: ItemID
        let hash: ContentHash

        var name: String { StagedName.downloading(item, hash).text }
    }

    private let store: any TreeStore
    private let staging: any DiskFolder
    /// The downloads that may have a folder.
    private var known: Set<Wanted> = []
    /// The items whose uploads may have a file.
    private var uploads: Set<ItemID> = []

    init(_ store: any TreeStore, _ control: ControlDirectory) {
        self.store = store
        staging = control.staging
    }

    /// Removes what no item needs any more, except of running transfers.
    ///
    /// - Throws: ``FileError`` and the store's errors; the next call continues.
    func removeUnwanted(besides busy: Set<ItemID>) throws {
        for one in known where !busy.contains(one.item) { try judge(one.item, one.hash) }
        for item in uploads where !busy.contains(item) { try judgeUpload(of: item) }
    }

    // MARK: Downloads

    /// How many bytes of a content have come.
    func received(_ item: ItemID, _ hash: ContentHash) throws(FileError) -> Int64 {
        let name = Wanted(item: item, hash: hash).name
        guard try staging.entry(name) != nil else { return 0 }
        return try staging.folder(name).list().reduce(0) { $0 + $1.stat.fingerprint.size }
    }

    /// The folder of a content, made when it is missing.
    func folder(of item: ItemID, _ hash: ContentHash) throws(FileError) -> any DiskFolder {
        let wanted = Wanted(item: item, hash: hash)
        known.insert(wanted)
        return try staging.subfolder(wanted.name)
    }

    /// Whether a content is in its folder with all its bytes, which are read; another file there is removed.
    ///
    /// - Throws: ``FileError``, and `CancellationError` when the task is cancelled.
    static func isWhole(
        _ size: Int64, _ hash: ContentHash, in folder: any DiskFolder, _ workers: (any TaskExecutor)?
    ) async throws -> Bool {
        guard let there = try folder.entry(content) else { return false }
        if there.stat.fingerprint.size == size,
            try await LargeContent.read(folder.open(content), size: size, isCut: false, workers).whole == hash
        {
            return true
        }
        try folder.removeFile(content)
        return false
    }

    /// Moves a content that is whole to the place in staging from which it is installed.
    func stage(_ item: ItemID, _ hash: ContentHash) throws(FileError) {
        let folder = try folder(of: item, hash)
        try folder.rename(Self.content, to: staging, StagedName.writing(item).text, .withoutReplacing)
    }

    /// Moves a large content that was to be installed and was not back to its folder, so that it need not come again;
    /// removes any other.
    func putBack(_ name: String, of id: ItemID) throws {
        guard let left = try staging.entry(name) else { return }
        guard let item = try store.item(id), let remote = item.remote, let hash = remote.hash,
            item.waits(for: hash), remote.size > SyncBatch.maximumInlineBytes,
            left.kind == .file, left.stat.fingerprint.size == remote.size
        else { return try staging.removeFile(name) }
        let folder = try folder(of: id, hash)
        if try folder.entry(Self.content) != nil { try folder.removeFile(Self.content) }
        try staging.rename(name, to: folder, Self.content, .withoutReplacing)
    }

    /// Keeps a folder that was found in staging, or removes it when no item waits for its content.
    func judge(_ item: ItemID, _ hash: ContentHash) throws {
        known.insert(Wanted(item: item, hash: hash))
        if try store.item(item)?.waits(for: hash) != true { try remove(item, hash) }
    }

    /// Removes the folder of a content with all that has come of it.
    func remove(_ item: ItemID, _ hash: ContentHash) throws(FileError) {
        let wanted = Wanted(item: item, hash: hash)
        if try staging.entry(wanted.name) != nil { try Self.remove(wanted.name, from: staging) }
        known.remove(wanted)
    }

    /// Removes a folder in staging.
    static func remove(_ name: String, from staging: any DiskFolder) throws(FileError) {
        let folder = try staging.folder(name)
        for entry in try folder.list() { try folder.removeFile(entry.name) }
        try staging.removeFolder(name)
    }

    // MARK: Uploads

    /// How to resume an item's upload, and where its progress is stored.
    func resumption(of item: ItemID) -> UploadResumption {
        uploads.insert(item)
        let (staging, name) = (staging, StagedName.uploading(item).text)
        return UploadResumption(from: Self.position(name, in: staging)) { position in
            // A position that is lost costs bytes, and nothing else.
            try? Self.keep(position, name, in: staging)
        }
    }

    /// Keeps a file that was found in staging, or removes it when its item has nothing to send.
    func judgeUpload(of item: ItemID) throws {
        uploads.insert(item)
        if try store.item(item).map(\.isSettled) != false { try removeUpload(of: item) }
    }

    /// Forgets an upload.
    func removeUpload(of item: ItemID) throws(FileError) {
        try Self.keep(nil, StagedName.uploading(item).text, in: staging)
        uploads.remove(item)
    }

    private static func position(_ name: String, in staging: any DiskFolder) -> UploadPosition? {
        for name in [name, name + StagedName.draftEnding] {
            guard let bytes = try? staging.open(name).bytes(limit: positionLimit) else { continue }
            return try? JSONReader.read(from: bytes)
        }
        return nil
    }

    private static func keep(
        _ position: UploadPosition?, _ name: String, in staging: any DiskFolder
    ) throws(FileError) {
        let draft = name + StagedName.draftEnding
        var isThere = try staging.entry(name) != nil
        if try staging.entry(draft) != nil {
            if isThere || position == nil {
                try staging.removeFile(draft)
            } else {
                try staging.rename(draft, to: staging, name, .withoutReplacing)
                isThere = true
            }
        }
        guard let position else {
            if isThere { try staging.removeFile(name) }
            return
        }
        var json = JSONText()
        position.write(to: &json)
        // One of both is whole, at whatever call the program is killed.
        try staging.create(draft).write(json.bytes)
        if isThere { try staging.removeFile(name) }
        try staging.rename(draft, to: staging, name, .withoutReplacing)
    }
}

extension Item {
    /// Whether it is still to get this content from the server.
    fileprivate func waits(for hash: ContentHash) -> Bool {
        !isSettled && remote?.hash == hash && local?.hash != hash
    }
}
