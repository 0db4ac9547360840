import ArgumentParser
import ByteClubHTTP
import DownloadBoard
import ExampleSupport
import FoundationEssentials
import Glibc

/// Downloads files side by side, in sessions of each kind.
@main struct Downloads: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "downloads",
        abstract: "Downloads files side by side, in a session of each kind.",
        discussion: """
            downloads https://example.org/ridge.jpg https://example.org/lake.jpg
            downloads https://example.org/film.mp4 --session background -o ~/Videos
            downloads --session background
            downloads https://example.org/ridge.jpg --as data --show

            On a terminal, keys steer the downloads: arrows or digits select one, p pauses it, r resumes it or tries \
            again, c cancels it, q leaves. A cancelled download goes on from its part with r, and in the default session \
            also with the next start; in the background, and with data tasks, it begins anew.

            Without a network, downloads wait for one.

            Exit codes: 0 done, or going on in the background; 64 usage, 65 a body that makes no sense or is too large, \
            66 no such file, 69 the server is not reached, 73 a file cannot be written, 75 not all done and safe to try again, \
            130 Ctrl-C, 143 SIGTERM.
            """)

    @Argument(help: "The URLs to download.") var urls: [String] = []
    @Option(help: "The session: default, ephemeral or background.") var session = "default"
    @Option(name: .customLong("as"), help: "The tasks: download for files, data for pieces in memory.")
    var form = "download"
    @Option(name: [.customShort("o"), .customLong("output")], help: "The folder for the files.") var folder = "."
    @Flag(name: .customLong("show"), help: "Draws each picture that is there.") var isShown = false
    @Flag(help: "Prints a JSON object for each event.") var json = false

    private enum Kind: String { case `default`, ephemeral, background }

    static func main() async { await runProgram(tell: tell, code: code) }

    private static func code(of error: TransferError) -> Failure.Code { Failure(error).code }

    func run() async throws {
        // The library starts this program as the daemon with this word, which is no URL.
        if urls == ["daemon"] { return try await BackgroundDaemon(BackgroundTasks.service()).run() }
        let kind = try kind()
        let engine = try await engine(kind)
        let terminal = json ? nil : KeyTerminal()
        defer { terminal?.restore() }
        let canDraw = terminal != nil && KeyTerminal.hasColours
        if isShown, !canDraw { tell("downloads: no picture is drawn, since this is no terminal with colours") }
        let display: any Display =
            if let terminal { Screen(terminal, drawsPictures: isShown && canDraw) } else if json { JSONLines() } else {
                Lines()
            }
        let desk = Desk(Board(engine.downloads, isAttended: terminal != nil), display)
        _ = StopSignal([SIGINT, SIGTERM, SIGHUP], ending: { terminal?.restore() }) { number in
            Task { await desk.handle(.stop(number == SIGINT ? .interrupted : .terminated)) }
        }
        let watching = terminal.map { terminal in Task { await Self.watch(terminal, desk) } }

        await desk.begin()
        await engine.start(desk)
        for await command in desk.commands {
            if command == .leave { break }
            await engine.perform(command, desk)
        }
        await engine.leave(desk)
        await desk.refresh()
        watching?.cancel()
        terminal?.restore()
        let ending = await desk.ending(survival(kind))
        if let code = ending.code { throw Failure(code, ending.words ?? "") }
        if let words = ending.words { tell("downloads: \(words)") }
    }

    /// Passes the terminal's keys to the desk, and has it draw postponed changes.
    private static func watch(_ terminal: KeyTerminal, _ desk: Desk) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await key in terminal.keys { await desk.handle(.key(key)) }
                // The terminal was closed.
                if !Task.isCancelled { await desk.handle(.stop(.terminated)) }
            }
            group.addTask {
                while (try? await Task.sleep(for: .milliseconds(100))) != nil { await desk.refresh() }
            }
        }
    }

    private func kind() throws(Failure) -> Kind {
        guard let kind = Kind(rawValue: session) else {
            throw Failure(
                .usage, "there is no session '\(session.printable)': it is default, ephemeral or background")
        }
        guard form == "download" || form == "data" else {
            throw Failure(.usage, "there are no tasks '\(form.printable)': they are download or data")
        }
        if kind == .background, form == "data" {
            throw Failure(.usage, "a background session has no data tasks, since nobody may be there for the pieces")
        }
        if urls.isEmpty, kind != .background { throw Failure(.usage, "name a URL to download") }
        return kind
    }

    private func engine(_ kind: Kind) async throws -> any Engine {
        let targets = try Target.all(urls, in: folder)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure(.cannotWrite, "the folder '\(folder.printable)' cannot be made")
        }
        if kind == .background { return try await BackgroundTasks(targets) }
        if form == "data" { return try DataTasks(targets, isEphemeral: kind == .ephemeral) }
        return try DownloadTasks(targets, isEphemeral: kind == .ephemeral)
    }

    private func survival(_ kind: Kind) -> Board.Survival {
        switch kind {
        case .background: .downloads
        case .default where form == "download": .parts
        case .default, .ephemeral: .nothing
        }
    }
}
