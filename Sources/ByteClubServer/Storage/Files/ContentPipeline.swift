import ByteClubCore
import ByteClubFiles
import Crypto
import NIOCore
import NIOPosix
import Synchronization

/// Writes and hashes a body on two threads while its next part arrives.
///
/// At most two parts of ``partSize`` are in memory: the one that fills and the one on its way.
final class ContentPipeline: Sendable {
    /// How many bytes go to the disk at a time.
    static let partSize = 256 << 10
    /// After how many bytes the kernel begins to write them to disk.
    private static let writebackSize: Int64 = 8 << 20

    /// How many threads write, hash and sync: a disk does no more at once, whatever number of bodies arrive.
    static let threads = max(8, System.coreCount * 2)

    private static let disk: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
        return pool
    }()

    private struct State {
        var buffer: [UInt8] = []
        var file: Descriptor?
        var digests = BlockDigests()
        var offset: Int64 = 0
        var writtenBack: Int64 = 0
        var jobs = 0
        var failure: (any Error)?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Whether bytes are in a file, or should be.
    var hasFile: Bool { state.withLock { $0.file != nil } }

    /// Copies bytes into the buffer, and returns whether it is full.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            let needed = state.buffer.count + bytes.count
            if needed > state.buffer.capacity {
                // A body of one piece needs no more than that; one of many does not grow its parts step by step.
                let isFirst = state.offset == 0 && state.buffer.isEmpty
                state.buffer.reserveCapacity(isFirst ? needed : max(needed, Self.partSize + bytes.count))
            }
            unsafe state.buffer.append(contentsOf: bytes)
            return state.buffer.count >= Self.partSize
        }
    }

    /// Removes and returns a body that needs no file: one of at most so many bytes; nil for any other.
    func takeBody(upTo limit: Int) -> [UInt8]? {
        state.withLock { state in
            guard state.file == nil, state.buffer.count <= limit else { return nil }
            defer { state.buffer = [] }
            return state.buffer
        }
    }

    /// Sets the file, and the position in it whose unfinished block `digests` has hashed.
    func begin(_ file: Descriptor, offset: Int64, digests: BlockDigests) {
        state.withLock { state in
            state.file = file
            state.offset = offset
            state.writtenBack = offset
            state.digests = digests
        }
    }

    /// Starts to write and hash the buffer after the part before it is done.
    func flush() async throws {
        await idle()
        let part: (bytes: [UInt8], file: Descriptor, offset: Int64, digests: BlockDigests, hint: Int64?)? =
            try state.withLock { state in
                if let failure = state.failure { throw failure }
                guard let file = state.file, !state.buffer.isEmpty else { return nil }
                let bytes = state.buffer
                state.buffer = []
                let offset = state.offset
                state.offset += Int64(bytes.count)
                state.jobs = 2
                let hints = state.offset - state.writtenBack >= Self.writebackSize
                let hint = hints ? state.writtenBack : nil
                if hints { state.writtenBack = state.offset }
                return (bytes, file, offset, state.digests, hint)
            }
        guard let part else { return }
        Self.disk.submit { _ in
            let failure = Self.write(part.bytes, to: part.file, at: part.offset, hint: part.hint)
            self.end { if let failure, $0.failure == nil { $0.failure = failure } }
        }
        Self.disk.submit { _ in
            var digests = part.digests
            unsafe part.bytes.withUnsafeBytes { unsafe digests.update($0) }
            self.end { [digests] in $0.digests = digests }
        }
    }

    /// Writes the rest, waits for it and, if asked to, syncs the file; gives the end's offset and the digests.
    func finish(durably: Bool = true) async throws -> (offset: Int64, digests: BlockDigests) {
        try await flush()
        await idle()
        let (file, offset, digests) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            return (state.file, state.offset, state.digests)
        }
        if durably, let file { try await Self.onDisk { try file.syncData() } }
        return (offset, digests)
    }

    /// Makes every later flush throw, forgets the buffer, and waits until nothing touches the file any more.
    func stop(_ reason: any Error) async {
        abandon(reason)
        await idle()
    }

    /// As ``stop(_:)`` without waiting.
    func abandon(_ reason: any Error) {
        state.withLock { state in
            state.failure = state.failure ?? reason
            state.buffer = []
        }
    }

    /// Runs blocking calls on a thread that may block; they wait for nothing else that runs there.
    static func onDisk<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            disk.submit { _ in continuation.resume(with: Result(catching: body)) }
        }
    }

    private static func write(_ bytes: [UInt8], to file: Descriptor, at offset: Int64, hint: Int64?) -> (any Error)? {
        do {
            try file.write(bytes, at: offset)
            if let hint { file.startWriteback(at: hint, count: offset + Int64(bytes.count) - hint) }
            return nil
        } catch {
            return error
        }
    }

    private func idle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.jobs > 0 { state.waiters.append(continuation) }
                return state.jobs == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    private func end(_ change: @Sendable (inout State) -> Void) {
        let waiters: [CheckedContinuation<Void, Never>] = state.withLock { state in
            change(&state)
            state.jobs -= 1
            guard state.jobs == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Hashes bytes in blocks of 4 MiB, and keeps the digests of whole blocks until they are removed.
struct BlockDigests: Sendable {
    /// The digests of the whole blocks since the last ``takeDigests()``, 32 bytes each.
    private var digests: [UInt8] = []
    private var block = SHA256()
    private var filled = 0

    /// Starts at the start of a block.
    init() {}

    /// The bytes of the unfinished block.
    var tail: Int { filled }

    /// Hashes more bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let count = unsafe min(rest.count, ContentHash.blockSize - filled)
            unsafe block.update(bufferPointer: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled += count
            unsafe rest = rest.dropFirst(count)
            if filled == ContentHash.blockSize {
                digests += Array(block.finalize())
                block = SHA256()
                filled = 0
            }
        }
    }

    /// Hands over the digests of the whole blocks.
    mutating func takeDigests() -> [UInt8] {
        defer { digests = [] }
        return digests
    }

    /// The hash of content whose earlier blocks have these digests, and whose rest was hashed here.
    func contentHash(after earlier: [UInt8] = []) throws(StorageError) -> ContentHash {
        var outer = SHA256()
        outer.update(data: earlier)
        outer.update(data: digests)
        if filled > 0 { outer.update(data: Array(block.finalize())) }
        guard let hash = unsafe outer.finalize().withUnsafeBytes({ unsafe ContentHash($0) }) else {
            throw StorageError(.damaged, "a hash has another length than a hash has")
        }
        return hash
    }
}
