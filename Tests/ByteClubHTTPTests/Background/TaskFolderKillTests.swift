import Glibc
import HTTPTypes
import Testing

@testable import ByteClubHTTP

struct TaskFolderKillTests {
    private static let variable = "BYTECLUB_TEST_TASKS"
    private static let batchCount = 10

    /// The folder in which a child process records tasks until it is killed; nil in the tests themselves.
    private static var childPath: String? { unsafe getenv(variable).map { unsafe String(cString: $0) } }

    @Test(
        "a program that is killed while it records batches leaves whole ones alone", .enabled(if: childPath == nil),
        .timeLimit(.minutes(2)))
    func killed() async throws {
        let home = TemporaryFolder()
        let folder = try TaskFolder(home.file("tasks"))
        var most = 0
        for _ in 0..<6 {
            let child = try #require(ChildProcess(running: "TaskFolderKillTests", ["\(Self.variable)=\(folder.path)"]))
            let before = TemporaryFolder.entries(folder.path).count
            while TemporaryFolder.entries(folder.path).count < before + 2 * Self.batchCount {
                try await Task.sleep(for: .milliseconds(2))
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
            child.destroy()
            #expect(child.wait() & 0x7F == SIGKILL)
            let loaded = try folder.load()
            #expect(loaded.damage.isEmpty)
            #expect(loaded.tasks.count % Self.batchCount == 0 && loaded.tasks.count > most)
            #expect(TemporaryFolder.entries(folder.path).count == loaded.tasks.count)
            most = loaded.tasks.count
        }
    }

    @Test("record until killed", .enabled(if: childPath != nil))
    func child() throws {
        let folder = try TaskFolder(try #require(Self.childPath))
        let request = HTTPRequest(method: .get, scheme: "http", authority: "club.example", path: "/a")
        for _ in 0..<100_000 {
            try folder.record(
                (0..<Self.batchCount).map { _ in
                    BackgroundStatus(.random(), "s", BackgroundRequest(.download(request, to: "/b")), at: 7)
                })
        }
    }
}
