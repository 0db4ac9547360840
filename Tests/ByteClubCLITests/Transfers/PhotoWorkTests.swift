import ByteClubCore
import ByteClubRemotes
import Glibc
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubHTTP

/// The daemon's work on a photo, called directly, with a server in memory.
@Suite struct PhotoWorkTests {
    private let world: World
    private let context: Context

    init() throws {
        world = try World()
        context = world.context()
        try context.credentials.save(
            Credentials(server: "http://127.0.0.1:1", token: "stored-token", member: "ada"))
    }

    private var upload: PhotoUploadWork {
        var work = PhotoUploadWork(context)
        work.open = { [server = world.server] _, _ in server }
        return work
    }

    private var download: PhotoDownloadWork {
        var work = PhotoDownloadWork(context)
        work.open = { [server = world.server] _, _ in server }
        return work
    }

    private func order(_ file: String, _ change: PhotoChange = PhotoChange()) throws -> PhotoUploadOrder {
        PhotoUploadOrder(
            server: Transfers.server, folder: "/byteclub/photos", file: file, state: try FileState(of: file),
            change: change)
    }

    /// The photos on the server.
    private func photos() async throws -> [Metadata] {
        try await FolderListing.files(of: RemotePath("/byteclub/photos"), world.server).entries
    }

    @Test("work that is done again, since its end was not noted, finds the photo there and stores none")
    func again() async throws {
        let payload = try order(Fixture.path("panoramas/city.jpg")).payload()
        let reported = Mutex<[Int64]>([])
        let work = upload
        for _ in 0..<2 {
            let result = try await work.run(
                payload, Transfers.work(report: { bytes, _ in reported.withLock { $0.append(bytes) } }))
            #expect(String(decoding: result.bytes, as: UTF8.self) == "/byteclub/photos/city.jpg")
        }
        #expect(try await photos().count == 1)
        #expect(reported.withLock { $0.last } == 90163)
    }

    @Test("two equal photos at once become one on the server")
    func equal() async throws {
        let copy = world.home.path + "/copy.jpg"
        try LocalFiles.write(Fixture.bytes("panoramas/city.jpg"), to: copy)
        let work = upload
        try await withThrowingTaskGroup { group in
            for (number, file) in [Fixture.path("panoramas/city.jpg"), copy].enumerated() {
                let payload = try order(file).payload()
                group.addTask { _ = try await work.run(payload, Transfers.work(UInt64(number))) }
            }
            try await group.waitForAll()
        }
        #expect(try await photos().count == 1)
    }

    @Test("a changed copy is made once, sent after a failure as it is, and gone in the end")
    func changed() async throws {
        let payload = try order(Fixture.path("panoramas/city.jpg"), PhotoChange(quality: 40)).payload()
        let files = TransferFiles(Transfers.work().id, context)
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .put { throw RemoteError(.unreachable, "gone") }
        }
        let failure = await #expect(throws: BackgroundFailure.self) {
            try await upload.run(payload, Transfers.work())
        }
        #expect(failure?.isRetryable == true && failure?.code == "unreachable", "\(String(describing: failure))")
        let made = try LocalFile.modified(files.changed)
        world.server.fault = nil
        let sent = try LocalFile.read(files.changed)
        #expect(try LocalFile.modified(files.changed) == made)
        _ = try await upload.run(payload, Transfers.work())
        let stored = try await world.server.content(
            at: RemotePath("/byteclub/photos/city.jpg"), revision: nil, range: nil, limit: .max)
        #expect(stored.bytes == sent)
        #expect(!LocalFile.exists(files.changed))
    }

    @Test(
        "a file that was changed after it was recorded is not sent, also when a copy of what it was is there",
        arguments: [PhotoChange(), PhotoChange(quality: 40)])
    func edited(_ change: PhotoChange) async throws {
        let file = world.home.path + "/city.jpg"
        try LocalFiles.write(Fixture.bytes("panoramas/city.jpg"), to: file)
        let recorded = try order(file, change)
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .put { throw RemoteError(.unreachable, "gone") }
        }
        await #expect(throws: BackgroundFailure.self) {
            try await upload.run(recorded.payload(), Transfers.work())
        }
        world.server.fault = nil
        try LocalFiles.write(Fixture.bytes("panoramas/dated.jpg"), to: file)
        let failure = await #expect(throws: BackgroundFailure.self) {
            try await upload.run(recorded.payload(), Transfers.work())
        }
        #expect(failure?.message == "'\(file)' has changed since it was queued; run the upload again")
        #expect(failure?.isRetryable == false)
        #expect(try await photos().isEmpty)
        #expect(try order(file, change) != recorded)
    }

    @Test("a photo that one member had recorded does not go out as another one's")
    func otherMember() async throws {
        var order = try order(Fixture.path("panoramas/city.jpg"))
        order.server.member = "ann"
        let failure = await #expect(throws: BackgroundFailure.self) {
            try await upload.run(order.payload(), Transfers.work(0xabcd << 48))
        }
        #expect(failure?.code == "notAuthorised" && failure?.isRetryable == false)
        #expect(
            failure?.message == "queued by ann, but ada is signed in; cancel it, or sign in as ann; then run "
                + "'byteclub transfers resume --all'")
        order.server.member = "ada"
        _ = try await upload.run(order.payload(), Transfers.work())
        #expect(try await photos().count == 1)
    }

    @Test("the name of what is to become a file fits the file system, whatever the script of the file's own")
    func hiddenNames() {
        for character in ["a", "é", "山", "👩‍👩‍👧‍👦"] {
            let part = TransferFiles(Transfers.work().id, context)
                .part(of: "/home/ada/" + String(repeating: character, count: 200) + ".jpg")
            #expect(part.hasPrefix("/home/ada/." + character) && part.hasSuffix(".0000000000000007.byteclub"))
            #expect(LocalFile.name(of: part).utf8.count <= 255)
        }
    }

    @Test("a transfer that is given up leaves nothing of itself, and no other file goes")
    func discards() async throws {
        let file = world.home.path + "/got.jpg"
        let order = PhotoDownloadOrder(
            server: Transfers.server, path: "/byteclub/photos/city.jpg", file: file, isForced: true)
        // Another one of the same photo has other files.
        let (id, files) = (Transfers.work(1).id, TransferFiles(Transfers.work(1).id, context))
        let other = TransferFiles(Transfers.work(2).id, context)
        try files.prepare()
        let others = [file, other.part(of: file), other.journal, other.changed]
        for path in others + [files.part(of: file), files.journal, files.changed] {
            try LocalFiles.write(Array("x".utf8), to: path)
        }
        try await download.discard(id, order.payload(), checkpoint: nil)
        #expect(others.allSatisfy(LocalFile.exists))
        #expect(![files.part(of: file), files.journal, files.changed].contains(where: LocalFile.exists))
        // Files abandoned for weeks are removed by the next daemon.
        TransferFiles.removeExpired(context)
        #expect(LocalFile.exists(other.journal))
        var later = context
        later.now = { Int64(time(nil)) + 41 * 86_400 }
        TransferFiles.removeExpired(later)
        #expect(!LocalFile.exists(other.journal) && LocalFile.exists(file))
    }

    @Test("what one upload has failed at is looked for anew by the next one")
    func lostAnswer() async throws {
        let work = upload
        let payload = try order(Fixture.path("panoramas/city.jpg")).payload()
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .put, operation.moment == .after { throw RemoteError(.unreachable, "lost") }
        }
        await #expect(throws: BackgroundFailure.self) { try await work.run(payload, Transfers.work()) }
        world.server.fault = nil
        _ = try await work.run(payload, Transfers.work())
        #expect(try await photos().count == 1)
    }

    @Test("nobody logged in, or in elsewhere, is told with what to do, and no token goes anywhere else")
    func login() async throws {
        let elsewhere = Credentials(server: "https://other.example", token: "stored-token", member: "ada")
        for credentials in [nil, elsewhere] {
            _ = try context.credentials.remove()
            if let credentials { try context.credentials.save(credentials) }
            let payload = try order(Fixture.path("panoramas/city.jpg")).payload()
            let failure = await #expect(throws: BackgroundFailure.self) {
                try await upload.run(payload, Transfers.work(0xabcd << 48))
            }
            #expect(failure?.code == "notAuthorised" && failure?.isRetryable == false)
            #expect(
                failure?.message == "you are not signed in to http://127.0.0.1:1; run 'byteclub login "
                    + "http://127.0.0.1:1'; then run 'byteclub transfers resume --all'")
        }
        #expect(world.connections.isEmpty)
    }

    @Test("a file that is no photo any more, or of another version's record, fails for good")
    func badData() async throws {
        let file = world.home.path + "/no.jpg"
        try LocalFiles.write(Array("text".utf8), to: file)
        for (payload, code) in [(try order(file).payload(), "badData"), (Array("{}".utf8), "badData")] {
            let failure = await #expect(throws: BackgroundFailure.self) {
                try await upload.run(payload, Transfers.work())
            }
            #expect(failure?.code == code && failure?.isRetryable == false)
        }
    }

    @Test("a photo comes with its date, is not fetched again when it is there, and never replaces another file")
    func downloads() async throws {
        let bytes = Fixture.bytes("panoramas/city.jpg")
        let modified = FileTime(seconds: 1_375_700_000, nanoseconds: 500_000_000)
        _ = try await world.server.put(
            .bytes(bytes), at: RemotePath("/byteclub/photos/city.jpg"), modified: modified, condition: .create,
            policy: .fail, progress: nil)
        let file = world.home.path + "/got.jpg"
        var order = PhotoDownloadOrder(
            server: Transfers.server, path: "/byteclub/photos/city.jpg", file: file, isForced: false)
        #expect(try await download.run(order.payload(), Transfers.work()).file == file)
        #expect(try LocalFile.read(file) == bytes && LocalFile.modified(file) == modified)
        let fetched = Mutex(0)
        world.server.fault = { operation throws(RemoteError) in
            if operation.kind == .download { fetched.withLock { $0 += 1 } }
        }
        #expect(try await download.run(order.payload(), Transfers.work()).file == file)
        #expect(fetched.withLock { $0 } == 0)
        // The state after a daemon was killed before it renamed the file.
        unsafe unlink(file)
        try LocalFiles.write(bytes, to: TransferFiles(Transfers.work().id, context).part(of: file))
        #expect(try await download.run(order.payload(), Transfers.work()).file == file)
        #expect(try LocalFile.read(file) == bytes && fetched.withLock { $0 } == 0)

        try LocalFiles.write(Array("mine".utf8), to: file)
        let failure = await #expect(throws: BackgroundFailure.self) {
            try await download.run(order.payload(), Transfers.work())
        }
        #expect(failure?.code == "cannotCreate" && failure?.isRetryable == false)
        #expect(try LocalFile.read(file) == Array("mine".utf8))
        order.isForced = true
        _ = try await download.run(order.payload(), Transfers.work())
        #expect(try LocalFile.read(file) == bytes)
        order.path = "/byteclub/photos/none.jpg"
        let missing = await #expect(throws: BackgroundFailure.self) {
            try await download.run(order.payload(), Transfers.work())
        }
        #expect(missing?.code == "noInput")
    }
}
