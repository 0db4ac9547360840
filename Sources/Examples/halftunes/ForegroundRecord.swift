import ByteClubHTTP
import ExampleSupport
import FoundationEssentials
import Glibc

/// The record of a download in the foreground, so that it is listed and can continue after its program was killed.
struct ForegroundRecord: Codable {
    var track: Track
    /// The file's absolute path.
    var file: String
    var isDone = false

    /// The records whose files are complete or can be continued, by the tracks' numbers.
    static func all() throws -> [ForegroundRecord] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder())) ?? []
        return try names.compactMap { name in
            guard name.hasSuffix(".json"), let trackID = Int64(name.dropLast(".json".utf8.count)),
                let bytes = FileManager.default.contents(atPath: try path(trackID, "json")),
                let record = try? JSONDecoder().decode(ForegroundRecord.self, from: bytes),
                // A complete file that was removed is no longer listed.
                record.track.trackId == trackID, record.isThere || !record.isDone
            else { return nil }
            return record
        }.sorted { $0.track.trackId < $1.track.trackId }
    }

    /// A file of a track's download in the user's folder for program state: its `json`, `lock` or journal.
    static func path(_ trackID: Int64, _ ending: String? = nil) throws -> String {
        try folder() + "/\(trackID)" + (ending.map { ".\($0)" } ?? "")
    }

    private static func folder() throws -> String {
        let state = URL(filePath: try BackgroundDownloads.service().folder).deletingLastPathComponent()
        return state.appending(path: "parts", directoryHint: .notDirectory).path
    }

    /// Records the download of a preview.
    static func write(_ preview: Preview, isDone: Bool) throws {
        let record = ForegroundRecord(track: preview.track, file: preview.file, isDone: isDone)
        let path = try path(preview.track.trackId, "json")
        do { try JSONEncoder.readable.encode(record).write(to: URL(filePath: path), options: .atomic) } catch {
            throw Failure(.cannotWrite, "'\(path)' cannot be written")
        }
    }

    /// Removes the record of a download that cannot continue.
    static func remove(_ trackID: Int64) {
        if let path = try? path(trackID, "json") { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The part of a track's file that its journal describes; nil without one.
    static func part(_ trackID: Int64) throws -> ResumeData? {
        let journal = FileManager.default.contents(atPath: try path(trackID))
        return journal.flatMap { try? ResumeData(bytes: Array($0)) }
    }

    /// Creates the folder of the records.
    static func prepare() throws {
        try FileManager.default.createDirectory(
            atPath: folder(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Locks a track's download in the foreground; waits while another program downloads the track.
    static func lock(_ track: Track) throws -> FileLock {
        let path = try path(track.trackId, "lock")
        if let lock = try FileLock(trying: path) { return lock }
        tell("\(track.title): another program downloads it, and this one waits")
        return try FileLock(path)
    }

    var isThere: Bool { FileManager.default.fileExists(atPath: file) }
}

/// A download in the foreground whose program was stopped or killed; no program can resume it meanwhile.
struct StoppedDownload {
    let track: Track
    private let lock: FileLock

    /// Locks a track's download; nil while a program performs it.
    init?(_ track: Track) throws {
        guard let lock = try FileLock(trying: ForegroundRecord.path(track.trackId, "lock")) else { return nil }
        (self.track, self.lock) = (track, lock)
    }

    /// Removes the part, its journal and the record, in this order: if this is interrupted, it is still listed.
    func cancel() throws {
        try ForegroundRecord.part(track.trackId)?.discard()
        try? FileManager.default.removeItem(atPath: ForegroundRecord.path(track.trackId))
        ForegroundRecord.remove(track.trackId)
        lock.remove()
        tell("\(track.title): cancelled")
    }
}

/// A download in the foreground, for people and scripts.
struct ForegroundDownload: Encodable {
    let record: ForegroundRecord
    /// `running`, `paused` or `done`.
    let state: String
    let bytes: Int64
    /// Nil while it is unknown.
    let total: Int64?

    init(_ record: ForegroundRecord) throws {
        self.record = record
        if let length = Self.length(record.file) {
            (state, bytes, total) = ("done", length, length)
            return
        }
        let trackID = record.track.trackId
        if let lock = try FileLock(trying: ForegroundRecord.path(trackID, "lock")) {
            lock.release()
            state = "paused"
        } else {
            state = "running"
        }
        let part = try ForegroundRecord.part(trackID)
        // The journal may lag behind the part.
        bytes = part.flatMap { Self.length($0.temporaryFile) } ?? 0
        total = part.map(\.bytesExpectedToReceive).flatMap { $0 < 0 ? nil : $0 }
    }

    /// Checks that no download in the foreground writes a file, or has a part of it.
    ///
    /// - Throws: ``Failure`` that names the download.
    static func refuse(_ title: String, _ file: String) throws {
        guard let record = try ForegroundRecord.all().first(where: { $0.file == file && !$0.isThere }) else { return }
        let state = try ForegroundDownload(record).state
        let number = record.track.trackId
        throw Failure(
            .partlyDone,
            "'\(title)' is \(state) in the foreground: "
                + (state == "paused"
                    ? "'halftunes download \(number)' goes on with it, 'halftunes cancel \(number)' gives it up"
                    : "'halftunes downloads' lists it"))
    }

    private static func length(_ path: String) -> Int64? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// One line for people.
    var line: String {
        "\("foreground".padded(to: 16))  \(state.padded(to: 7))  \(record.track.trackId)  "
            + "\(record.track.title): \(amount(bytes, of: total))"
    }

    private enum Key: String, CodingKey { case trackId, name, state, bytes, total, file }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(record.track.trackId, forKey: .trackId)
        try object.encode(record.track.title, forKey: .name)
        try object.encode(state, forKey: .state)
        try object.encode(bytes, forKey: .bytes)
        try object.encode(total, forKey: .total)
        try object.encode(record.file, forKey: .file)
    }
}
