import ByteClubCore
import CLinux
import Glibc

/// A file that is ready to be sent.
enum Outgoing: Sendable {
    /// A note: the very bytes that were hashed.
    case bytes([UInt8], ContentHash, Look)
    /// A photo, held open so that no other file can take its place.
    case file(FileDescriptor, Look)
}

/// A file that the server has stored.
struct FinishedUpload: Sendable {
    let key: PathKey
    let hash: ContentHash
    let look: Look
    let metadata: Metadata
}

extension Mirror {
    /// Opens a file for sending; nil when that must wait.
    func open(_ key: PathKey) throws -> Outgoing? {
        guard let path = try localPath(of: key) ?? paths[key] else { return nil }
        do {
            let (folder, name) = try place(of: path)
            let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else {
                suspect(path)
                return nil
            }
            if file.isBeingWritten {
                postpone(key)
                return nil
            }
            busy[key] = nil
            let before = Look(status)
            guard before.fingerprint.size <= ContentReader.smallLimit else { return .file(file, before) }
            guard let bytes = try ContentReader.bytes(of: file, expecting: before.fingerprint.size),
                Fingerprint(try file.status()) == before.fingerprint
            else {
                suspect(path)
                postpone(key)
                return nil
            }
            return .bytes(bytes, ContentHasher.hash(bytes), before)
        } catch let error as FileError {
            try fail(key, at: path, error)
            return nil
        }
    }

    /// Remembers files that the server has stored; many at once become durable together.
    func record(_ upload: FinishedUpload) throws {
        finishedUploads.append(upload)
        if finishedUploads.count >= 512 { try flushUploads() }
    }

    /// Makes the files that were stored last durable in the database.
    func flushUploads() throws {
        let finished = finishedUploads
        finishedUploads.removeAll(keepingCapacity: true)
        if finished.isEmpty { return }
        try probe.before(.commit("uploads"))
        try store.transaction { db in
            for upload in finished {
                try MirrorStore.stopExpecting(db, upload.key)
                guard var row = try MirrorStore.row(db, upload.key) else { continue }
                row.remote = RemoteEntry(upload.metadata)
                row.remote?.hash = upload.hash
                row.synced = SyncedEntry(
                    isFolder: false, hash: upload.hash, size: upload.look.fingerprint.size,
                    revision: upload.metadata.rev)
                try settle(&row, upload)
                try MirrorStore.save(db, row)
            }
        }
    }

    /// Looks once more at a file that was sent: an edit made meanwhile goes with the next round.
    private func settle(_ row: inout MirrorRow, _ upload: FinishedUpload) throws {
        guard let path = try localPath(of: upload.key), let place = try? place(of: path),
            let status = try? place.directory.status(of: place.name),
            Fingerprint(status) == upload.look.fingerprint
        else {
            row.local?.hash = nil
            if let path = paths[upload.key] { suspect(path) }
            return
        }
        row.local?.hash = upload.hash
        row.local?.fingerprint = upload.look.fingerprint
        row.local?.isRacy = upload.look.isRacy
    }
}
