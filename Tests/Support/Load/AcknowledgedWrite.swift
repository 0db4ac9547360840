import ByteClubCore
import Glibc
import Synchronization

/// A write of ``NoteLoad`` that the server said it has, and under which number.
public struct AcknowledgedWrite: Hashable, Sendable {
    /// The writer's number.
    public let writer: Int32
    /// The number of its write.
    public let number: Int32
    /// The change's number at the server.
    public let revision: Int64

    /// Describes a write.
    public init(writer: Int32, number: Int32, revision: Int64) {
        self.writer = writer
        self.number = number
        self.revision = revision
    }

    /// The path written to.
    public var path: String { NoteLoad.path(writer: Int(writer), number: Int(number)) }
    /// The bytes written.
    public var bytes: [UInt8] { NoteLoad.bytes(writer: Int(writer), number: Int(number)) }
}

extension [AcknowledgedWrite] {
    /// The number after the last acknowledged one, of each writer.
    ///
    /// One is left out: the write that was under way when the server went may have been done.
    public func next(writers: Int) -> [Int] {
        var next = [Int](repeating: 0, count: writers)
        for write in self { next[Int(write.writer)] = Swift.max(next[Int(write.writer)], Int(write.number) + 2) }
        return next
    }

    /// The last one of each writer.
    public var newest: [AcknowledgedWrite] {
        Array(Dictionary(map { ($0.writer, $0) }) { $0.number > $1.number ? $0 : $1 }.values)
    }

    /// Reads each of these writes back and compares its bytes; gives those that are not as they were acknowledged.
    public func readBack(port: UInt16, token: String) async -> [AcknowledgedWrite] {
        await check(port: port, token: token) { connection, write in
            let line = "GET /1/files/dropbox\(write.path)?rev=\(JournalRevision(number: write.revision))"
            guard let answer = connection.exchange(line) else { return false }
            return answer.status == 200 && answer.body == write.bytes
        }
    }

    /// Looks for each of these writes in the history of its path, with its content's hash; gives those that are
    /// missing.
    public func missingFromHistory(port: UInt16, token: String) async -> [AcknowledgedWrite] {
        let paths = [[AcknowledgedWrite]](Dictionary(grouping: self, by: \.path).values)
        return await paths.concurrently { writes in
            guard var connection = KeepAliveConnection(port: port, token: token), let path = writes.first?.path,
                let answer = connection.exchange("GET /1/revisions/dropbox\(path)?rev_limit=1000"),
                answer.status == 200, let history = try? JSONReader.read([Metadata].self, from: answer.body)
            else { return writes }
            var hashes: [Int64: ContentHash] = [:]
            for version in history { hashes[version.rev?.number ?? 0] = version.contentHash }
            return writes.filter { hashes[$0.revision] != ContentHasher.hash($0.bytes) }
        }
    }

    private func check(
        port: UInt16, token: String,
        _ isThere: @escaping @Sendable (inout KeepAliveConnection, AcknowledgedWrite) -> Bool
    ) async -> [AcknowledgedWrite] {
        let parts = stride(from: 0, to: count, by: 500).map { Array(self[$0..<Swift.min($0 + 500, count)]) }
        return await parts.concurrently { writes in
            guard var connection = KeepAliveConnection(port: port, token: token) else { return writes }
            return writes.filter { !isThere(&connection, $0) }
        }
    }
}

extension [[AcknowledgedWrite]] {
    /// Runs blocking work for each element on a few threads, and joins what comes of it.
    fileprivate func concurrently(
        _ body: @escaping @Sendable ([AcknowledgedWrite]) -> [AcknowledgedWrite]
    ) async -> [AcknowledgedWrite] {
        await withTaskGroup(of: [AcknowledgedWrite].self) { group in
            let work = Work(self)
            for _ in 0..<4 {
                group.addTask {
                    await BackgroundThread.run {
                        var found: [AcknowledgedWrite] = []
                        while let part = work.next() { found += body(part) }
                        return found
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private final class Work: Sendable {
        private let rest: Mutex<[[AcknowledgedWrite]]>

        init(_ parts: [[AcknowledgedWrite]]) { rest = Mutex(parts) }

        func next() -> [AcknowledgedWrite]? { rest.withLock { $0.popLast() } }
    }
}

/// The acknowledged writes in a file, so that a proof can go on in another process.
public struct WriteLedgerFile {
    private let path: String

    /// Uses a file, which need not be there.
    public init(path: String) { self.path = path }

    /// What the file holds.
    public func read() -> [AcknowledgedWrite] {
        let bytes = Fixture.bytes(at: path)
        return stride(from: 0, to: bytes.count - bytes.count % 16, by: 16).map { start in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe AcknowledgedWrite(
                    writer: buffer.loadUnaligned(fromByteOffset: start, as: Int32.self),
                    number: buffer.loadUnaligned(fromByteOffset: start + 4, as: Int32.self),
                    revision: buffer.loadUnaligned(fromByteOffset: start + 8, as: Int64.self))
            }
        }
    }

    /// Adds writes at the end.
    public func append(_ writes: [AcknowledgedWrite]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(writes.count * 16)
        for write in writes {
            unsafe withUnsafeBytes(of: write.writer) { unsafe bytes.append(contentsOf: $0) }
            unsafe withUnsafeBytes(of: write.number) { unsafe bytes.append(contentsOf: $0) }
            unsafe withUnsafeBytes(of: write.revision) { unsafe bytes.append(contentsOf: $0) }
        }
        guard let file = unsafe fopen(path, "a") else { return }
        _ = unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
    }
}
