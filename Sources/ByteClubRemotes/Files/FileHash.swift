import ByteClubCore
import Glibc
import Synchronization

/// The content hash of a file, computed block by block on threads of its own, beside other work.
///
/// Memory stays at one read buffer a thread, whatever the file's size.
final class FileHash: Sendable {
    private struct State {
        var digests: [BlockHasher.Digest?]
        var working: Int
        var result: Result<ContentHash, RemoteError>?
        var waiter: CheckedContinuation<Result<ContentHash, RemoteError>, Never>?
    }

    private static let bufferSize = 256 << 10
    private let file: OpenFile
    private let blockCount: Int
    private let nextBlock = Atomic<Int>(0)
    private let isStopped = Atomic<Bool>(false)
    private let state: Mutex<State>

    private init(_ file: OpenFile, threads: Int) {
        self.file = file
        let size = Int64(ContentHash.blockSize)
        blockCount = Int((file.size + size - 1) / size)
        state = Mutex(State(digests: Array(repeating: nil, count: blockCount), working: threads))
    }

    /// Starts to hash a file, which must stay as it is, at most `threads` blocks at once.
    static func start(_ file: OpenFile, threads: Int = 2) -> FileHash {
        let blocks = Int(file.size / Int64(ContentHash.blockSize)) + 1
        let hash = FileHash(file, threads: min(max(threads, 1), blocks))
        for _ in 0..<min(max(threads, 1), blocks) where !hash.startThread() { hash.leave() }
        return hash
    }

    /// The hash, once it is there; ends with `cancelled` when the surrounding task is.
    var value: ContentHash {
        get async throws(RemoteError) {
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let result = state.withLock { state in
                        if state.result == nil { state.waiter = waiter }
                        return state.result
                    }
                    if let result { waiter.resume(returning: result) }
                }
            } onCancel: {
                stop()
            }
            return try result.get()
        }
    }

    /// Ends the work soon; a hash that is not there yet will be `cancelled`.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func startThread() -> Bool {
        let context = unsafe Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<FileHash>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, context.toOpaque())
        if code != 0 {
            unsafe context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func work() {
        do {
            var buffer = [UInt8](repeating: 0, count: min(Self.bufferSize, max(1, Int(file.size))))
            while case let block = nextBlock.wrappingAdd(1, ordering: .relaxed).oldValue, block < blockCount {
                let digest = try hash(block, &buffer)
                state.withLock { $0.digests[block] = digest }
            }
        } catch {
            isStopped.store(true, ordering: .relaxed)
            finish(.failure(error))
        }
        leave()
    }

    private func hash(_ block: Int, _ buffer: inout [UInt8]) throws(RemoteError) -> BlockHasher.Digest {
        var hasher = BlockHasher()
        var offset = Int64(block) * Int64(ContentHash.blockSize)
        let end = min(offset + Int64(ContentHash.blockSize), file.size)
        while offset < end {
            if isStopped.load(ordering: .relaxed) { throw RemoteError(.cancelled, "cancelled") }
            let count = Int(min(end - offset, Int64(buffer.count)))
            try file.read(into: &buffer, count: count, at: offset)
            unsafe buffer.withUnsafeBytes { unsafe hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            offset += Int64(count)
        }
        return hasher.finalize()
    }

    /// Counts a finished thread; the last one joins the digests.
    private func leave() {
        let digests = state.withLock { state -> [BlockHasher.Digest?]? in
            state.working -= 1
            return state.working == 0 ? state.digests : nil
        }
        guard let digests else { return }
        var hasher = ContentHasher()
        for digest in digests {
            guard let digest else {
                return finish(.failure(RemoteError(.localFile, "'\(file.path)' could not be hashed: no thread")))
            }
            hasher.append(blockDigest: digest)
        }
        finish(.success(hasher.finalize()))
    }

    private func finish(_ result: Result<ContentHash, RemoteError>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<ContentHash, RemoteError>, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }
}
