import ByteClubCore
import Dispatch
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct ThumbnailTests {
    /// Counts what is rendered; each rendering waits until it may end.
    private final class Renderings: Sendable {
        private let begun = Mutex(0)
        private let gate = DispatchSemaphore(value: 0)
        private let error: APIError?

        init(failingWith error: APIError? = nil) { self.error = error }

        var count: Int { begun.withLock { $0 } }

        func mayEnd(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

        @Sendable func render(
            _ file: String, _ size: ThumbnailSize, _ format: ThumbnailImageFormat
        ) throws -> [UInt8] {
            begun.withLock { $0 += 1 }
            _ = gate.wait(timeout: .now() + 60)
            if let error { throw error }
            return [1, 2, 3]
        }
    }

    private let directory: TemporaryDirectory
    private let turns = FairSemaphore(
        "threads", .init(total: 2, strangers: 1, member: 2, network: 1, queue: 8, queueOfRequester: 4))
    private let photo = ContentHasher.hash([7])

    init() throws { directory = try TemporaryDirectory() }

    private func store(_ renderings: Renderings, version: Int = 1) -> PictureStore {
        var makers = PictureStore.Makers()
        (makers.thumbnail, makers.thumbnailVersion) = (renderings.render, version)
        return PictureStore(
            directory: directory.path + "/thumbnails", threads: .singleton, turns: turns,
            reserve: DiskReserve(directory.path), makers: makers)
    }

    @Test("a photo that cannot be decoded costs its decoding once, also after a restart", arguments: [415, 404])
    func refusals(status: Int) async throws {
        let refusal = APIError(status, "the photo cannot be decoded: ü")
        let renderings = Renderings(failingWith: refusal)
        renderings.mayEnd(9)
        for _ in 1...3 {
            await #expect(throws: refusal) {
                _ = try await store(renderings).thumbnail(of: photo, size: .l, format: .jpeg, for: .member(1)) {
                    .bytes([7])
                }
            }
        }
        #expect(renderings.count == 1)
        // A renderer that may know better tries again.
        await #expect(throws: refusal) {
            _ = try await store(renderings, version: 2)
                .thumbnail(of: photo, size: .l, format: .jpeg, for: .member(1)) { .bytes([7]) }
        }
        #expect(renderings.count == 2)
    }

    @Test("a failure of the machine is no photo's, and is tried again")
    func failures() async throws {
        let renderings = Renderings(failingWith: APIError(503, "no memory"))
        renderings.mayEnd(9)
        for count in 1...2 {
            _ = try? await store(renderings).thumbnail(of: photo, size: .l, format: .jpeg, for: .member(1)) {
                .bytes([7])
            }
            #expect(renderings.count == count)
        }
    }

    @Test("all who ask for the same picture at once cost one rendering, whoever they are")
    func sharedWork() async throws {
        let renderings = Renderings()
        let thumbnails = store(renderings)
        let photo = photo
        try await withThrowingTaskGroup(of: [UInt8].self) { tasks in
            // More of each requester than may wait.
            for number in 0..<20 {
                tasks.addTask {
                    try await thumbnails.thumbnail(
                        of: photo, size: .l, format: .jpeg, for: number % 2 == 0 ? .member(1) : .stranger(nil)
                    ) { .bytes([7]) }
                }
            }
            try await eventually("both requesters have their turn") { turns.used == 2 && renderings.count == 1 }
            renderings.mayEnd(20)
            for try await bytes in tasks { #expect(bytes == [1, 2, 3]) }
        }
        #expect(renderings.count == 1 && turns.used == 0)
    }

    @Test("pictures for which nobody waits any more are not made, and those for which somebody does are")
    func abandoned() async throws {
        let renderings = Renderings()
        let thumbnails = store(renderings)
        let photo = photo
        let busy = Mutex<FairSemaphore.Lease?>(try turns.take(2, for: .member(9)))
        func ask(_ size: ThumbnailSize) -> Task<[UInt8], any Error> {
            Task {
                try await thumbnails.thumbnail(of: photo, size: size, format: .jpeg, for: .member(1)) { .bytes([7]) }
            }
        }
        let gone = [ask(.s), ask(.m), ask(.l)]
        let (leaving, staying) = (ask(.xl), ask(.xl))
        try await eventually("four wait") { turns.waiting == 4 }
        for task in gone + [leaving] { task.cancel() }
        try await eventually("one waits") { turns.waiting == 1 }
        for task in gone { await #expect(throws: CancellationError.self) { try await task.value } }
        renderings.mayEnd(9)
        busy.withLock { $0 = nil }
        #expect(try await staying.value == [1, 2, 3])
        #expect(renderings.count == 1)
    }
}
