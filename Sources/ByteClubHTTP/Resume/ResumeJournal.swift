import ByteClubFiles
import Glibc
import Synchronization

/// Keeps resume data in a file while a download runs, so that a killed program can resume.
///
/// Each step syncs the temporary file, then replaces the journal with a record of the synced length: a record never
/// includes bytes that a power cut could lose, and after a kill the file itself shows the rest. Steps run on a separate
/// thread, one at a time, since syncing may take seconds.
final class ResumeJournal: Sendable {
    private struct State {
        var isClosed = false
        var isSyncing = false
        /// The length and time of the last step; nil before the first step of a resumed part.
        ///
        /// That step is due at once, while a new part has nothing to sync yet.
        var last: (count: Int64, moment: Moment)?
        /// The last reported length of the file.
        var noted: Int64 = 0
    }

    let path: String
    private let record: ResumeRecord
    private let state: Mutex<State>

    /// The number of bytes after which a step starts.
    static let stride: Int64 = 8 << 20
    /// The time after which a step starts, if bytes were received.
    static let longestWait: Duration = .seconds(5)

    /// Creates a journal for a file of `record.count` bytes; the path must not contain NUL.
    init(path: String, record: ResumeRecord) {
        self.path = path
        self.record = record
        state = Mutex(State(last: record.count > 0 ? nil : (0, .now)))
    }

    /// Writes the initial record before any byte arrives; the first step syncs it.
    func begin() throws(DownloadFile.Failure) { try write(record, isSynced: false) }

    /// Reports the file's length, at least one byte; starts a step if one is due.
    func note(_ count: Int64, in descriptor: Int32) {
        let now = Moment.now
        let isDue = state.withLock { state in
            state.noted = count
            guard !state.isSyncing, !state.isClosed else { return false }
            if let last = state.last {
                let isLate = count > last.count && last.moment.advanced(by: Self.longestWait) <= now
                guard isLate || count - last.count >= Self.stride else { return false }
            }
            state.isSyncing = true
            state.last = (count, now)
            return true
        }
        guard isDue else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return state.withLock { $0.isSyncing = false } }
        do throws(TransferError) {
            try OwnThread.start {
                var next: Int64? = count
                while let count = next {
                    self.step(count, copy)
                    next = self.following()
                }
                Glibc.close(copy)
            }
        } catch {
            Glibc.close(copy)
            state.withLock { $0.isSyncing = false }
        }
    }

    /// Stops writing; an unfinished step has no effect and leaves no file.
    func close(removing isRemoving: Bool) {
        state.withLock { state in
            state.isClosed = true
            unsafe unlink(newPath)
            if isRemoving { unsafe _ = unlink(path) }
        }
    }

    /// The temporary path of a new record.
    private var newPath: String { path + ".new" }

    /// The length for the next step if it became due during the last one; nil ends the steps.
    private func following() -> Int64? {
        let now = Moment.now
        return state.withLock { state in
            guard !state.isClosed, let last = state.last, state.noted - last.count >= Self.stride else {
                state.isSyncing = false
                return nil
            }
            state.last = (state.noted, now)
            return state.noted
        }
    }

    private func step(_ count: Int64, _ descriptor: Int32) {
        guard fdatasync(descriptor) == 0 else { return }
        try? SealedFile.syncFolder(of: record.temporary)
        var record = record
        record.count = count
        // If writing fails, the older record remains valid.
        try? write(record, isSynced: true)
    }

    private func write(_ record: ResumeRecord, isSynced: Bool) throws(DownloadFile.Failure) {
        let name = newPath
        // Under the lock, so that closing finds the file.
        let file = try state.withLock { state throws(DownloadFile.Failure) in
            if state.isClosed { throw failure() }
            return try OwnedDescriptor<DownloadFile.Failure>(name, O_WRONLY | O_CREAT | O_NOFOLLOW, shownAs: path)
        }
        // Wait for a closed journal of the same path that is still in its last step.
        _ = try file.lock(LOCK_EX)
        // If that step renamed or removed this file, write a new one.
        guard isNamed(name, file) else { return try write(record, isSynced: isSynced) }
        do throws(DownloadFile.Failure) {
            let bytes = record.encoded
            try file.write(bytes, at: 0)
            try file.truncate(to: Int64(bytes.count))
            if isSynced { try file.syncData() }
        } catch {
            unsafe unlink(name)
            throw error
        }
        // The lock lasts until the record has its name.
        let isReplaced = withExtendedLifetime(file) {
            state.withLock { state in unsafe !state.isClosed && rename(name, path) == 0 }
        }
        guard isReplaced else { throw failure() }
        if isSynced { try? SealedFile.syncFolder(of: path) }
    }

    private func isNamed(_ name: String, _ file: OwnedDescriptor<DownloadFile.Failure>) -> Bool {
        guard let opened = try? file.fileStatus() else { return false }
        return FileStatus(name, followsLinks: false)?.inode == opened.inode
    }

    private func failure() -> DownloadFile.Failure { DownloadFile.Failure(FileFailure("write", path)) }
}
