import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

struct TaskFolderTests {
    private let home = TemporaryFolder()
    private var path: String { home.file("tasks") }

    private func task(_ number: UInt64, _ method: HTTPRequest.Method? = nil) -> BackgroundStatus {
        let request = HTTPRequest(method: method ?? .get, scheme: "http", authority: "club.example", path: "/a")
        let work: BackgroundRequest.Work = method == nil ? .download(request, to: "/b") : .upload(request, file: "/b")
        return BackgroundStatus(.init(number: number), "s", BackgroundRequest(work), at: 7)
    }

    private func names() -> [String] { TemporaryFolder.entries(path) }

    private func bytes(_ name: String) -> [UInt8] { home.read("tasks/\(name)") ?? [] }

    @Test("recorded and saved tasks are loaded oldest first, in the order of their recording")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("task folder: seed \(seed)")
        var records = RandomRecords(seed: seed)
        let folder = try TaskFolder(path)
        var tasks = (0..<12).map { _ in records.status() }
        for index in tasks.indices { tasks[index].created = index < 6 ? 9 : 8 }
        try folder.record(Array(tasks[..<6]))
        try folder.record(Array(tasks[6...]))
        for task in tasks { try folder.save(task) }
        try folder.save(checkpoint: [1, 2, 3], of: tasks[0].id)
        let schedule = RateSchedule(otherwise: 2 << 20, spans: [.init(days: [0, 6], from: 480, to: 540, rate: 0)])
        try folder.save(schedule)
        let loaded = try TaskFolder(path).load()
        #expect(loaded.tasks == Array(tasks[6...] + tasks[..<6]), "seed \(seed)")
        #expect(loaded.damage.isEmpty)
        #expect(folder.checkpoint(of: tasks[0].id) == [1, 2, 3] && folder.checkpoint(of: tasks[1].id) == nil)
        #expect(folder.schedule() == schedule)
        for task in tasks { folder.remove(task.id) }
        #expect(names() == ["schedule"])
    }

    @Test("a task that a former version recorded is loaded, and is not restricted")
    func former() throws {
        let folder = try TaskFolder(path)
        let expected = task(5)
        // Without the three flags at the end.
        let content = Array(TaskOrderRecord(batch: 0, place: 0, task: expected).encoded.dropLast(3))
        let file = folder.file(.task, of: expected.id)
        try SealedFile.write(content, kind: TaskFolder.formerTaskKind, to: file, isDurable: false)
        let loaded = try folder.load()
        #expect(loaded.tasks == [expected] && loaded.damage.isEmpty)
        // Such a record of the present kind is damaged.
        try SealedFile.write(content, kind: TaskFolder.Part.task.kind, to: file, isDurable: false)
        #expect(try folder.load().tasks.isEmpty)
    }

    @Test("only the owner can access the folder and its files, and a folder that others can write to is refused")
    func modes() throws {
        let deep = path + "/a/b"
        let folder = try TaskFolder(deep)
        try folder.record([task(1)])
        for (name, mode) in [("", mode_t(0o700)), ("/0000000000000001.task", 0o600)] {
            var status = stat()
            #expect(unsafe stat(deep + name, &status) == 0 && status.st_mode & 0o777 == mode)
        }
        #expect(unsafe chmod(deep, 0o770) == 0)
        for (bad, word) in [(deep, "chmod 700"), ("tasks", "absolute"), ("/dev/null", "file"), ("/dev/null/a", "made")]
        {
            let error = #expect(throws: TransferError.self) { try TaskFolder(bad) }
            #expect(error?.code == .badConfiguration && error?.message.contains(word) == true, "\(bad)")
        }
    }

    @Test("a task without a state starts over, and files that belong to no task stay")
    func fresh() throws {
        let folder = try TaskFolder(path)
        try folder.record([task(1, .post)])
        let others = ["notes", "1.task", "0000000000000002.TASK", "000000000000000A.state", ".byteclub-1.part"]
        for name in others { _ = home.write("tasks/\(name)", []) }
        let trash = [
            ".byteclub-7.new", "0000000000000003.state", "0000000000000003.resume", "0000000000000001.resume.new",
            "0000000000000001.resume.kept",
        ]
        for name in trash { _ = home.write("tasks/\(name)", []) }
        let loaded = try folder.load()
        #expect(loaded.tasks == [task(1, .post)] && loaded.damage.isEmpty)
        #expect(names() == (others + ["0000000000000001.task"]).sorted())
    }

    @Test("if one task cannot be recorded, none is")
    func full() throws {
        let folder = try TaskFolder(path)
        try folder.record([task(1)])
        // A folder in the place of a file cannot be replaced by one.
        #expect(unsafe mkdir("\(path)/0000000000000003.task", 0o700) == 0)
        let error = #expect(throws: TransferError.self) { try folder.record([task(2), task(3), task(4)]) }
        #expect(error?.code == .cannotWriteFile)
        #expect(throws: TransferError.self) { try folder.record([task(3)]) }
        #expect(names() == ["0000000000000001.task", "0000000000000003.task"])
        var large = task(5)
        large.request.work = .custom(kind: "a", payload: [UInt8](repeating: 0, count: 5 << 20))
        #expect(throws: TransferError.self) { try folder.record([task(6), large]) }
        #expect(try folder.load().tasks == [task(1)])
    }

    @Test("tasks of a batch are recorded together or not at all, at whatever step the daemon is killed")
    func batches() throws {
        let folder = try TaskFolder(path)
        try folder.record([task(9)])
        let batch = [task(1), task(2), task(3)]
        for written in 0...3 {
            let number = UInt64(77)
            try SealedFile.write([], kind: "bgbatch1", to: folder.batchFile(number), isDurable: false)
            for (place, task) in batch.enumerated().prefix(written) {
                let content = TaskOrderRecord(batch: number, place: Int64(place), task: task).encoded
                let file = folder.file(.task, of: task.id)
                try SealedFile.write(content, kind: TaskFolder.Part.task.kind, to: file, isDurable: false)
            }
            if written == 2 { _ = home.write("tasks/.byteclub-5.new", [1]) }
            #expect(try folder.load().tasks == [task(9)])
            #expect(names() == ["0000000000000009.task"])
        }
        try folder.record(batch)
        #expect(try folder.load().tasks == [task(9)] + batch)
    }

    @Test("damage at any byte of a task affects that task alone, and is reported with the file's new place")
    func damage() throws {
        let folder = try TaskFolder(path)
        var (good, bad, post) = (task(1), task(2), task(3, .post))
        for (state, sequence) in [(BackgroundStatus.State.paused, UInt64(5))] {
            (good.state, good.sequence, bad.state, bad.sequence) = (state, sequence, state, sequence)
            (post.state, post.sequence) = (state, sequence)
        }
        try folder.record([good, bad, post])
        for task in [good, bad, post] { try folder.save(task) }
        try folder.save(checkpoint: [5], of: bad.id)
        try folder.save(RateSchedule(otherwise: 7))
        for name in ["\(bad.id).task", "\(bad.id).state", "\(post.id).state", "\(bad.id).checkpoint", "schedule"] {
            let whole = bytes(name)
            let state = bytes("\(bad.id).state")
            let checkpoint = bytes("\(bad.id).checkpoint")
            let changed = whole.indices.map { index in whole.enumerated().map { $0 == index ? $1 ^ 0x10 : $1 } }
            for damaged in changed + whole.indices.map({ Array(whole[..<$0]) }) + [whole + [0]] {
                _ = home.write("tasks/\(name)", damaged)
                let loaded = try folder.load()
                let moved = "\(path)/damaged/\(name)"
                #expect(loaded.damage.count == 1 && loaded.damage[0].contains("'\(moved)'"), "\(name)")
                #expect(home.read("tasks/damaged/\(name)") == damaged)
                // A POST whose status is gone would be sent again.
                #expect(names().contains(name) == (name == "\(post.id).state"))
                #expect(loaded.tasks.first == good)
                switch name {
                case "\(bad.id).task": #expect(loaded.tasks == [good, post] && names().count == 6)
                case "\(bad.id).state": #expect(loaded.tasks == [good, task(2), post])
                case "\(post.id).state":
                    #expect(loaded.tasks.count == 3 && loaded.tasks[2].state == .running)
                    let again = try folder.load()
                    #expect(again.tasks == loaded.tasks && again.damage.isEmpty)
                case "schedule": #expect(loaded.tasks.count == 3 && folder.schedule() == RateSchedule())
                default: #expect(loaded.tasks == [good, bad, post] && folder.checkpoint(of: bad.id) == nil)
                }
                TemporaryDirectory.remove("\(path)/damaged")
                for (name, content) in [
                    (name, whole), ("\(bad.id).state", state), ("\(bad.id).checkpoint", checkpoint),
                ] { _ = home.write("tasks/\(name)", content) }
            }
        }
        let loaded = try folder.load()
        #expect(loaded.tasks == [good, bad, post] && loaded.damage.isEmpty)
    }

    @Test("a damaged status of a POST that cannot be replaced stays, so that no later daemon sends it")
    func stuck() throws {
        let folder = try TaskFolder(path)
        let post = task(3, .post)
        try folder.record([post])
        // A folder in the place of the file can be neither linked nor replaced.
        #expect(unsafe mkdir(folder.file(.state, of: post.id), 0o700) == 0)
        for _ in 1...2 {
            let loaded = try folder.load()
            #expect(loaded.tasks.map(\.state) == [.running] && loaded.damage.count == 1)
            #expect(names().contains("\(post.id).state"))
        }
    }

    @Test("a status of a POST that cannot be read fails it until it can be read")
    func unreadable() throws {
        let folder = try TaskFolder(path)
        var post = task(3, .post)
        try folder.record([post])
        post.state = .done
        try folder.save(post)
        // A symbolic link is not followed.
        let (file, away) = (folder.file(.state, of: post.id), home.file("away"))
        #expect(unsafe rename(file, away) == 0 && symlink(away, file) == 0)
        for _ in 1...2 {
            let loaded = try folder.load()
            #expect(loaded.tasks.map(\.state) == [.failed] && loaded.damage.count == 1)
        }
        #expect(unsafe rename(away, file) == 0)
        let loaded = try folder.load()
        #expect(loaded.tasks == [post] && loaded.damage.isEmpty)
    }

    @Test("all files that are damaged one after another are kept")
    func again() throws {
        let folder = try TaskFolder(path)
        try folder.record([task(1)])
        for number in 1...3 {
            _ = home.write("tasks/0000000000000001.state", [UInt8(number)])
            #expect(try folder.load().damage.count == 1)
        }
        #expect(TemporaryFolder.entries("\(path)/damaged").count == 3)
        #expect(home.read("tasks/damaged/0000000000000001.state.3") == [3])
    }

    @Test("complete files with another task's content or random bytes count as damaged")
    func content() throws {
        let folder = try TaskFolder(path)
        let seed = UInt64.random(in: 0 ... .max)
        print("contents: seed \(seed)")
        var records = RandomRecords(seed: seed)
        for _ in 0..<300 {
            try folder.record([task(1)])
            for part in [TaskFolder.Part.task, .state] where records.flag() {
                let content =
                    records.flag() ? records.bytes() : TaskOrderRecord(batch: 0, place: 0, task: task(2)).encoded
                try SealedFile.write(content, kind: part.kind, to: folder.file(part, of: task(1).id), isDurable: false)
            }
            #expect(try folder.load().tasks.allSatisfy { $0 == task(1) }, "seed \(seed)")
            folder.remove(task(1).id)
        }
    }

    @Test("a complete schedule with invalid values or another format counts as damaged")
    func impossibleSchedule() throws {
        let folder = try TaskFolder(path)
        let impossible = [
            RateSchedule(otherwise: .max), RateSchedule(spans: [.init(days: [7], from: 0, to: 1, rate: 0)]),
        ].map { (TaskFolder.scheduleKind, $0.encoded) }
        for (kind, bytes) in impossible + [("bgsched1", RateSchedule(otherwise: 7).encoded)] {
            try SealedFile.write(bytes, kind: kind, to: folder.scheduleFile, isDurable: false)
            #expect(folder.schedule() == RateSchedule())
            #expect(try folder.load().damage.count == 1 && names() == ["damaged"])
        }
    }

    @Test("a checkpoint has at most 1 MiB")
    func checkpoints() throws {
        let folder = try TaskFolder(path)
        try folder.save(checkpoint: [UInt8](repeating: 3, count: 1 << 20), of: task(1).id)
        let error = #expect(throws: TransferError.self) {
            try folder.save(checkpoint: [UInt8](repeating: 3, count: 1 << 20 + 1), of: task(1).id)
        }
        #expect(error?.code == .badRequest && folder.checkpoint(of: task(1).id)?.count == 1 << 20)
    }
}
