import ByteClubCore
import MemoryRemote
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubHTTP

/// The output of commands on terminals of several widths and in a pipe, compared with `Fixtures/cli/screens`.
@Suite struct GoldenScreenTests {
    /// Where a command writes to.
    private enum Place: Hashable, CustomStringConvertible {
        case terminal(Int)
        case plain(Int, [String: String])
        case pipe

        static let all =
            [40, 80, 120].map { Place.terminal($0) }
            + [.plain(80, ["NO_COLOR": "1"]), .plain(80, ["TERM": "dumb"]), .pipe]

        var columns: Int? {
            switch self {
            case .terminal(let columns), .plain(let columns, _): columns
            case .pipe: nil
            }
        }

        var environment: [String: String] { if case .plain(_, let environment) = self { environment } else { [:] } }

        var terminal: Terminal {
            guard let columns else { return .none }
            return Terminal(
                isInputTerminal: false, isOutputTerminal: true, isErrorTerminal: true, columns: { columns })
        }

        var description: String {
            switch self {
            case .terminal(let columns): "\(columns) columns"
            case .plain(let columns, let environment):
                "\(columns) columns, " + environment.map { "\($0)=\($1)" }.joined(separator: " ")
            case .pipe: "a pipe"
            }
        }
    }

    private let world: World
    private let kept = Kept()

    private final class Kept: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
        func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }
        func clear() { bytes.withLock { $0 = [] } }
    }

    init() throws { world = try World() }

    private func context(_ place: Place) -> Context {
        var context = world.context(place.environment, terminal: place.terminal)
        context.output = Output { [kept] in kept.add($0) }
        context.diagnostics = context.output
        context.now = { 1_375_784_100 }
        return context
    }

    /// A text without the sequences of bold letters and of the colours for states.
    private static func bare(_ text: String) -> String {
        ["1", "32", "33", "31", "0"].reduce(text) { $0.replacing("\u{1B}[\($1)m", with: "") }
    }

    /// Records the output in each place, and checks it against the rules.
    private func check(
        _ name: String, isList: Bool = false, in places: [Place] = Place.all,
        sourceLocation: SourceLocation = #_sourceLocation, _ write: (Context) async throws -> Void
    ) async throws {
        var record = ""
        var shown: [Place: String] = [:]
        for place in places {
            kept.clear()
            try await write(context(place))
            // For redrawn lines, the final screen.
            let text = TerminalScreen(kept.text).lines.joined(separator: "\n")
            shown[place] = text
            record += "== \(place)\n" + text.replacing("\u{1B}", with: "␛")
            if !text.hasSuffix("\n") { record += "\n" }
            let bare = Self.bare(text)
            #expect(!bare.contains("\u{1B}"), "\(place)", sourceLocation: sourceLocation)
            if place.columns == nil || !place.environment.isEmpty {
                #expect(bare == text, "\(place)", sourceLocation: sourceLocation)
                if let columns = place.columns {
                    #expect(shown[.terminal(columns)].map(Self.bare) == text, sourceLocation: sourceLocation)
                }
            }
            for line in bare.split(separator: "\n") {
                if let columns = place.columns {
                    #expect(
                        DisplayWidth.of(String(line)) <= columns, "\(place): \(line)", sourceLocation: sourceLocation)
                } else if isList {
                    #expect(line.contains("\t") && !line.contains("  "), "\(line)", sourceLocation: sourceLocation)
                }
                #expect(line.last != " ", "\(place): \(line)", sourceLocation: sourceLocation)
            }
        }
        try Golden.check(record, "screens/\(name).txt", sourceLocation: sourceLocation)
    }

    private func check(
        _ name: String, _ result: some CommandResult, isList: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await check(name, isList: isList, sourceLocation: sourceLocation) { context in
            // As a command does.
            var context = context
            if context.terminal.isOutputTerminal { context.output = ByteClubCLI.Screen().before(context.output) }
            try context.print(result, json: false)
        }
    }

    private func check(
        _ name: String, isList: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
        command: String...
    ) async throws {
        try await check(name, isList: isList, sourceLocation: sourceLocation) { context in
            #expect(await ByteClub.run(command, in: context) == .success, sourceLocation: sourceLocation)
        }
    }

    private static let long = "Minutes of the meeting about the new panorama tripod, with all that was said.md"

    private func fill() async throws {
        let other = MemoryRemote(sharing: world.server, author: 2)
        for name in ["trip.md", "Trips/2026/packing list.md", Self.long, "Ausflug zum 山 mit Müsli.md", "Report 10.md"] {
            try await world.put(String(repeating: "Meet at the car park at seven. ", count: 40), "/byteclub/" + name)
        }
        _ = try await other.put(
            .bytes(Array("We meet at the car park, and bring the keys of the hut.\n".utf8)),
            at: RemotePath("/byteclub/trip.md"), condition: .overwrite, policy: .fail, progress: nil)
        for name in ["city.jpg", "dated.jpg"] {
            _ = try await world.server.put(
                .bytes(Fixture.bytes("panoramas/" + name)), at: RemotePath("/byteclub/photos/" + name),
                condition: .create, policy: .fail, progress: nil)
        }
        _ = try await other.move(try RemotePath("/byteclub/Report 10.md"), to: try RemotePath("/byteclub/Report 2.md"))
    }

    @Test("notes and photos")
    func entries() async throws {
        try await fill()
        try await check("notes-list", isList: true, command: "notes", "list", "--recursive")
        try await check("notes-folders", isList: true, command: "notes", "list")
        try await check("notes-search", command: "notes", "search", "car park")
        try await check("notes-history", isList: true, command: "notes", "history", "trip.md")
        try await check("photos-list", isList: true, command: "photos", "list")
        try await check("photos-history", isList: true, command: "photos", "history", "city.jpg")
        try await check("photos-info", command: "photos", "info", "dated.jpg")
        try await check("log-club", isList: true, command: "log", "--club", "--limit", "8")
        try await check("whoami", command: "whoami")
        try await check(
            "restore", command: "restore", "--at", "2013-08-06T09:00:00Z", "--dry-run", "--delete-newer")
    }

    @Test("links, and what doctor finds")
    func others() async throws {
        let link = { (id: Int64, path: String, member: String) in
            PublicLink(
                id: id, kind: id == 7 ? .media : .share, path: try RemotePath("/byteclub/" + path),
                url: "https://club.example/s/x/y", created: APIDate(seconds: 1),
                expires: APIDate(seconds: 1_375_780_500), member: member)
        }
        let links = [try link(12, Self.long, "ada"), try link(7, "photos/city.jpg", "Bartholomew of the long name")]
        try await check("share-list", LinkList(links: links, folder: try RemotePath("/byteclub")), isList: true)
        try await check(
            "doctor",
            DoctorCommand.Result(checks: [
                .ok("programs", "byteclub 1.0, byteclub-mirror, byteclub-server"),
                .warn("clock", "this clock is 3 days ahead of the server's", "set the clock, preferably by NTP"),
                .fail("mirror", "'/home/ada/club' is gone", "restore it, or create another with 'byteclub sync DIR'"),
            ]))
    }

    @Test("photos as a server tells of them that knows pictures")
    func kinds() async throws {
        let shapes: [(String, MediaInfo?)] = [
            (
                "ridge.jpg",
                MediaInfo(
                    taken: TakenTime(clock: APIDate(seconds: 1_375_700_000), offset: 7200),
                    place: .init(latitude: 46.5483, longitude: -7.0412),
                    shape: PhotoShape(kind: .partialSphere, width: 15_872, height: 2606))
            ),
            ("city.jpg", MediaInfo(shape: PhotoShape(kind: .sphere, width: 5760, height: 2880))),
            (Self.long + ".jpg", .pending), ("film.jpg", nil),
        ]
        var photos: [Metadata] = []
        for (name, info) in shapes {
            var photo = try await world.put("x", "/byteclub/photos/" + name)
            photo.photoInfo = info
            photos.append(photo)
        }
        let folder = try RemotePath("/byteclub/photos")
        try await check("photos-kinds", PhotoList(photos: photos, folder: folder), isList: true)
    }

    @Test("background transfers")
    func transfers() async throws {
        var waiting = try Transfers.upload(
            0x2f00_aa00_0000_0000, Self.long + ".jpg", .waiting, bytes: 4 << 20, of: 12 << 20,
            failure: BackgroundFailure(code: "unreachable", message: "the server is away", isRetryable: true))
        waiting.nextAttempt = 1_375_784_160_000
        var done = try Transfers.upload(0x9c00_0000_0000_0001, "city.jpg", .done, bytes: 90_163, of: 90_163)
        done.result = BackgroundResult(bytes: Array("/byteclub/photos/city.jpg".utf8))
        let list = TransferList([
            done,
            try Transfers.upload(
                0x1200_0000_0000_0002, "ridge.jpg", .running, bytes: 54 << 20, of: 100 << 20, rate: 3_400_000),
            waiting, try Transfers.upload(0x7700_0000_0000_0003, "hut.jpg", .paused),
            try Transfers.upload(
                0xb600_0000_0000_0004, "gone.jpg", .failed,
                failure: BackgroundFailure(code: "noInput", message: "'/home/ada/gone.jpg' is not there")),
        ])
        try await check("transfers", list, isList: true)
        try await check("transfers-wait") { context in
            var wait = TransferWait(for: [0, 1, 2].map { BackgroundTask.ID(list.transfers[$0].id) }.compactMap(\.self))
            _ = wait.take([
                done,
                try Transfers.upload(
                    0x1200_0000_0000_0002, "ridge.jpg", .running, bytes: 54 << 20, of: 100 << 20, rate: 3_400_000),
                waiting,
            ])
            let columns = context.terminal.columns()
            let style = columns.map { ProgressLine.Style.bar(columns: $0) } ?? .plain
            try context.output.line(ProgressLine.text(wait.progress(after: 9), style: style))
        }
    }

    private static func status() -> SyncStatus {
        var status = SyncStatus()
        (status.isKnown, status.files, status.folders, status.bytes) = (true, 1_234, 56, 3_210_987_654)
        (status.pending, status.lastSync, status.isRunning) = (3, 1_375_780_500, true)
        status.ignored = .init(disk: 2, server: 1)
        status.problems = [.init(path: "Trips/noread.md", message: "cannot be read: Permission denied")]
        status.held = [.init(path: "photos/" + long, side: "remote", since: 1_375_780_500)]
        status.conflicts = [
            .init(path: "plan.md", copy: "plan (conflict 84dc9cda).md", at: 1_375_780_500),
            .init(path: "Trips/" + long, copy: "Trips/copy.md", at: 1_375_780_501, isElsewhere: true),
        ]
        return status
    }

    @Test("a mirror")
    func mirror() async throws {
        let status = Self.status()
        let activity = ActivityFile.Activity(
            transfers: [.init(path: "photos/" + Self.long, completed: 1 << 30, total: 3 << 30)],
            bytesPerSecond: 3_400_000)
        try await check(
            "status",
            StatusCommand.Result(
                directory: "/home/ada/club", status: status, leftOut: ["photos/raw"], activity: activity))
        try await check(
            "mirrors",
            MirrorsCommand.Result(mirrors: [
                .init(directory: "/home/ada/club", folder: "/byteclub", exists: true, status: status),
                .init(directory: "/home/ada/Documents/old things", folder: nil, exists: false),
            ]), isList: true)
        try await check(
            "conflicts-list", ConflictsListCommand.Answer(directory: "/c", conflicts: status.conflicts), isList: true)
        try await check("deletes-review", HeldDeletions(directory: "/c", deletions: status.held))
        try await check(
            "selection", SelectionChange(directory: "/home/ada/club", deselected: ["photos/raw"], leftOut: []))
        try await check(
            "log",
            LogCommand.Answer(
                directory: "/c",
                events: [
                    .init(at: 1_375_780_500, path: "trip.md", event: "upload", rule: "edited-on-disk"),
                    .init(at: 1_375_780_501, path: "photos", event: "mkdir-local", rule: "created-on-server"),
                    .init(at: 1_375_780_502, path: Self.long, event: "move-remote", detail: "from Old name.md"),
                ]), isList: true)
        var explanation = SyncExplanation(path: "plan.md")
        explanation.state = .blocked
        explanation.disk = .init(path: "plan.md", isFolder: false, size: 51, hash: "0123456789abcdef")
        (explanation.rule, explanation.next) = ("edited-on-disk", ["upload it"])
        explanation.blockers = ["it is being written"]
        explanation.nextAttempt = 1_375_780_500
        try await check("why", WhyCommand.Result(directory: "/c", path: "plan.md", entries: [explanation]))
    }

    @Test("the lines of a sync, those of one that goes on with the time")
    func sync() async throws {
        for (name, isOnce) in [("sync-once", true), ("sync", false)] {
            // A terminal that can draw no line again is written to as a log.
            try await check(name, in: Place.all.filter { $0.environment["TERM"] == nil }) { context in
                let printer = SyncPrinter(context: context, json: false, tellsTime: !isOnce) { nil }
                for event in [
                    SyncEvent(.makeLocalFolder, path: "photos"),
                    SyncEvent(.download, path: "photos/city.jpg", bytes: 9),
                    SyncEvent(.upload, path: Self.long, bytes: 9),
                    SyncEvent(.moveRemote, path: "Trips/new name.md", from: "Trips/old name.md"),
                    SyncEvent(.conflict, path: "plan.md", copy: "plan (conflict 84dc9cda).md"),
                    SyncEvent(.problem, path: "noread.md", message: "cannot be read: Permission denied"),
                    SyncEvent(.summary, summary: SyncSummary()),
                ] { printer.take(event) }
                try printer.finish(nil)
            }
        }
    }

    @Test("the line of a transfer")
    func progress() async throws {
        try await check("progress") { context in
            guard let columns = context.terminal.columns() else { return }
            let state = ProgressState(
                name: Self.long, place: (1, 3), completed: 54 << 20, total: 100 << 20, bytesPerSecond: 3_400_000,
                elapsed: 9)
            try context.output.line(ProgressLine.text(state, style: .bar(columns: columns)))
        }
    }
}
