import ByteClubFiles
import Glibc

/// The folder of a daemon's tasks, each in its own files, so that damage affects one task.
///
/// A task has `ID.task` (the request, written once), `ID.state` (the status), `ID.resume` (a download's
/// ``TaskOptions/resumeJournal``) and `ID.checkpoint`. A damaged file is moved to `damaged` and reported; a task without
/// `ID.state` starts over, so a damaged one of an upload that must not be sent twice is replaced. Calls block, and come
/// from one thread at a time except ``save(checkpoint:of:isNameSynced:)``.
///
/// A task exists while its `ID.task` does, which is written first and removed first. Tasks that are recorded together share
/// a number; while the file `NUMBER.batch` exists, some are not written yet, and none of them counts.
struct TaskFolder: Sendable {
    enum Part: String, CaseIterable {
        case task, state, resume, checkpoint

        /// The kind of the part's ``SealedFile``; a journal is none.
        var kind: String { "bg\(rawValue.prefix(5))\(self == .task ? 2 : 1)" }
    }

    /// The kind of `ID.task` as former versions wrote it: ``RecordReader/Format/withoutConditions``.
    static let formerTaskKind = "bgtask1"

    static let scheduleKind = "bgsched2"
    static let batchSuffix = ".batch"
    /// The longest valid content of a file.
    static let mostBytes = 4 << 20
    private static let mostCheckpointBytes = 1 << 20

    let path: String

    /// Opens the folder, or creates it with mode 0700.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration`` when it cannot be used, or others can write to it.
    init(_ path: String) throws(TransferError) {
        func bad(_ reason: String) -> TransferError {
            TransferError(.badConfiguration, "the folder of background transfers '\(path)' \(reason)")
        }
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw bad("is not an absolute path") }
        self.path = path
        var parent = ""
        for name in path.split(separator: "/") {
            parent += "/\(name)"
            if unsafe mkdir(parent, 0o700) == 0 {
                // Other users' folders may refuse.
                try? SealedFile.syncFolder(of: parent)
                continue
            }
            if errno == EEXIST { continue }
            // mkdir(2) may fail in a parent that is not writable although the folder exists.
            let code = errno
            guard FileStatus(parent) != nil else { throw bad("cannot be made: \(systemMessage(code))") }
        }
        guard let status = FileStatus(path) else { throw bad("cannot be used: \(systemMessage(errno))") }
        guard status.isFolder else { throw bad("is a file") }
        guard status.raw.st_uid == geteuid() else { throw bad("belongs to another user") }
        guard status.permissions & 0o022 == 0 else { throw bad("is writable by other users; run: chmod 700 '\(path)'") }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw bad("cannot be used: \(systemMessage(errno))") }
    }

    func file(_ part: Part, of id: BackgroundTask.ID) -> String { "\(path)/\(id).\(part)" }

    /// Records tasks: all are on disk when this returns, none when it throws.
    ///
    /// - Throws: ``TransferError/Code/cannotWriteFile``.
    func record(_ tasks: [BackgroundStatus]) throws(TransferError) {
        let batch: UInt64 = tasks.count > 1 ? .random(in: 1 ... .max) : 0
        let marker = batchFile(batch)
        do throws(SealedFile.Failure) {
            if batch != 0 {
                try SealedFile.write([], kind: "bgbatch1", to: marker, isDurable: true)
                try SealedFile.syncFolder(of: marker)
            }
            for (place, task) in tasks.enumerated() {
                let content = TaskOrderRecord(batch: batch, place: Int64(place), task: task).encoded
                try write(content, .task, of: task.id)
            }
            try SealedFile.syncFolder(of: marker)
            if batch != 0 {
                guard unsafe unlink(marker) == 0 else {
                    throw SealedFile.Failure(message: "\(marker) cannot be removed: \(systemMessage(errno))")
                }
                try SealedFile.syncFolder(of: marker)
            }
        } catch {
            for task in tasks { unsafe unlink(file(.task, of: task.id)) }
            try? SealedFile.syncFolder(of: marker)
            unsafe unlink(marker)
            throw TransferError(.cannotWriteFile, error.message, phase: .file)
        }
    }

    /// Writes a task's status, durably if a restart must not forget it.
    ///
    /// - Throws: ``TransferError/Code/cannotWriteFile``, and leaves the file unchanged.
    func save(_ status: BackgroundStatus) throws(TransferError) {
        var writer = RecordWriter()
        status.encodeState(to: &writer)
        // Work that may be repeated can simply be started again.
        let mayBeForgotten = status.state == .running && status.request.isRepeatable
        try keep(writer.bytes, .state, of: status.id, isNameSynced: !mayBeForgotten)
    }

    /// Removes a task's `ID.task` and the given other files.
    func remove(_ id: BackgroundTask.ID, _ parts: [Part] = Part.allCases) {
        unsafe unlink(file(.task, of: id))
        // First, since a power cut could otherwise restore the task without its state, so that it starts over.
        try? SealedFile.syncFolder(of: file(.task, of: id))
        for part in parts where part != .task { unsafe unlink(file(part, of: id)) }
    }

    /// The path of a download's resume data.
    func journalPath(of id: BackgroundTask.ID) -> String { file(.resume, of: id) }

    /// The last saved checkpoint; nil when there is none, or it is damaged.
    func checkpoint(of id: BackgroundTask.ID) -> [UInt8]? {
        let content = SealedFile.read(
            file(.checkpoint, of: id), kind: Part.checkpoint.kind, limit: Self.mostCheckpointBytes)
        return if case .whole(let bytes) = content { Array(bytes) } else { nil }
    }

    /// Saves a checkpoint; called from any thread.
    ///
    /// - Parameters:
    ///   - checkpoint: The checkpoint.
    ///   - id: The task.
    ///   - isNameSynced: Whether to sync the folder, without which a new file may not outlive a power cut.
    /// - Throws: ``TransferError/Code/badRequest`` when it has more than 1 MiB, ``TransferError/Code/cannotWriteFile``.
    func save(checkpoint: [UInt8], of id: BackgroundTask.ID, isNameSynced: Bool = true) throws(TransferError) {
        guard checkpoint.count <= Self.mostCheckpointBytes else {
            throw TransferError(
                .badRequest, "a checkpoint has \(checkpoint.count) bytes; \(Self.mostCheckpointBytes) are allowed")
        }
        try keep(checkpoint, .checkpoint, of: id, isNameSynced: isNameSynced)
    }

    /// Removes the last saved checkpoint; called from any thread.
    func removeCheckpoint(of id: BackgroundTask.ID) { unsafe unlink(file(.checkpoint, of: id)) }

    /// The daemon's schedule; without limits when there is none, or it is damaged.
    func schedule() -> RateSchedule { Self.schedule(in: path) }

    /// The schedule in a folder that may not exist.
    static func schedule(in folder: String) -> RateSchedule {
        let content = SealedFile.read(scheduleFile(in: folder), kind: scheduleKind, limit: mostBytes)
        guard case .whole(let bytes) = content, let schedule = try? RateSchedule(decoding: bytes), schedule.canBeKept
        else {
            return RateSchedule()
        }
        return schedule
    }

    /// Writes the daemon's schedule durably.
    ///
    /// - Throws: ``TransferError/Code/cannotWriteFile``, and leaves the old one.
    func save(_ schedule: RateSchedule) throws(TransferError) {
        do throws(SealedFile.Failure) {
            try SealedFile.write(schedule.encoded, kind: Self.scheduleKind, to: scheduleFile, isDurable: true)
            try SealedFile.syncFolder(of: scheduleFile)
        } catch { throw TransferError(.cannotWriteFile, error.message, phase: .file) }
    }

    var scheduleFile: String { Self.scheduleFile(in: path) }

    private static func scheduleFile(in folder: String) -> String { "\(folder)/schedule" }

    func batchFile(_ batch: UInt64) -> String { "\(path)/\(BackgroundTask.ID(number: batch))\(Self.batchSuffix)" }

    private func keep(
        _ content: [UInt8], _ part: Part, of id: BackgroundTask.ID, isNameSynced: Bool
    ) throws(TransferError) {
        do throws(SealedFile.Failure) {
            try write(content, part, of: id)
            if isNameSynced { try SealedFile.syncFolder(of: file(part, of: id)) }
        } catch { throw TransferError(.cannotWriteFile, error.message, phase: .file) }
    }

    private func write(_ content: [UInt8], _ part: Part, of id: BackgroundTask.ID) throws(SealedFile.Failure) {
        let path = file(part, of: id)
        guard content.count <= Self.mostBytes else {
            throw SealedFile.Failure(message: "\(path) cannot be written: \(content.count) bytes are too many")
        }
        try SealedFile.write(content, kind: part.kind, to: path, isDurable: true)
    }
}

/// The content of an `ID.task` file.
struct TaskOrderRecord {
    /// The number that tasks recorded together share, or 0.
    var batch: UInt64
    /// The task's position among them.
    var place: Int64
    /// The task, of which only the request and other fixed properties are encoded.
    var task: BackgroundStatus
}

extension TaskOrderRecord: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(batch, place)
        task.encodeOrder(to: &writer)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        (batch, place) = try reader.values()
        task = try BackgroundStatus(order: &reader)
    }
}
