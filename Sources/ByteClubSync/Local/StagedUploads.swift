import ByteClubCore

/// The progress of uploads of large files: each has a file in staging, with which the next attempt resumes, also the
/// attempt of another engine.
///
/// It is a hint: without it the upload starts over.
final class StagedUploads {
    private static let limit = 4 << 10

    private let store: any TreeStore
    private let staging: any DiskFolder
    /// Those that may have a file.
    private var known: Set<ItemID> = []

    init(_ store: any TreeStore, _ control: ControlDirectory) {
        self.store = store
        staging = control.staging
    }

    /// How to resume an item's upload, and where its progress is stored.
    func resumption(of item: ItemID) -> UploadResumption {
        known.insert(item)
        let (staging, name) = (staging, StagedName.uploading(item).text)
        return UploadResumption(from: Self.position(name, in: staging)) { position in
            // A position that is lost costs bytes, and nothing else.
            try? Self.keep(position, name, in: staging)
        }
    }

    /// Keeps a file that was found in staging, or removes it when its item has nothing to send.
    func judge(_ item: ItemID) throws {
        known.insert(item)
        if try store.item(item).map(\.isSettled) != false { try remove(item) }
    }

    /// Removes the files of items that have nothing to send any more, but for those under way.
    ///
    /// - Throws: ``FileError`` and the store's errors; the next call continues.
    func removeUnwanted(besides busy: Set<ItemID>) throws {
        for item in known where !busy.contains(item) { try judge(item) }
    }

    /// Forgets an upload.
    func remove(_ item: ItemID) throws(FileError) {
        try Self.keep(nil, StagedName.uploading(item).text, in: staging)
        known.remove(item)
    }

    private static func position(_ name: String, in staging: any DiskFolder) -> UploadPosition? {
        guard let bytes = try? staging.open(name).bytes(limit: limit) else { return nil }
        return try? JSONReader.read(from: bytes)
    }

    private static func keep(
        _ position: UploadPosition?, _ name: String, in staging: any DiskFolder
    ) throws(FileError) {
        if try staging.entry(name) != nil { try staging.removeFile(name) }
        guard let position else { return }
        var json = JSONText()
        position.write(to: &json)
        try staging.create(name).write(json.bytes)
    }
}
